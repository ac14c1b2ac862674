# rufus-scheduler.
require 'rufus-scheduler'

def record(word)
  File.write('jobs', "#{word} #{Time.now.to_f}\n", mode: 'a')
end

scheduler = Rufus::Scheduler.new
{
  'a' => '0-8/4 8 6 5 *',
  'p' => '20 8 6 5 *',
  'b' => '30 1-17/4 6 5 *',
  'c' => '0 12 7 5 *',
  'd' => '30 23 7 5 *'
}.each { |letter, expression| scheduler.cron("#{expression} UTC") { record(letter) } }
record('ready')
scheduler.join
