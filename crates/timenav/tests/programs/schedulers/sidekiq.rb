# Sidekiq, with the Redis server of REDIS_URL.
require 'sidekiq'
require 'sidekiq/api'

def record(word)
  File.write('jobs', "#{word} #{Time.now.to_f}\n", mode: 'a')
end

class Recording
  include Sidekiq::Worker

  def perform(letter)
    record(letter)
  end
end

Sidekiq.options[:average_scheduled_poll_interval] = 60
Sidekiq.configure_server do |config|
  # By default Redis must respond in 5 s, which are 1.4 ms at rate 3600.
  config.redis = { url: ENV['REDIS_URL'], network_timeout: 36_000 }
  config.on(:startup) do
    File.foreach('due') do |line|
      letter, seconds = line.split
      Recording.perform_at(seconds.to_i, letter)
    end
    record('ready')
  end
end
