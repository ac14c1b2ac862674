import { describe, expect, it } from 'vitest';
import { CRONS, RULES } from './draft';
import { cronText, ruleText } from './schedule';

describe('iCalendar rule text', () => {
  it.each([
    ['FREQ=DAILY', 'every day'],
    ['RRULE:FREQ=DAILY;INTERVAL=2;COUNT=10', 'every 2 days, 10 times'],
    ['freq=hourly;count=1', 'every hour, 1 time'],
    ['FREQ=WEEKLY;BYDAY=MO', 'every week on Monday'],
    ['FREQ=WEEKLY;BYDAY=MO,WE,FR;BYHOUR=9;BYMINUTE=0', 'every week on Monday, Wednesday and Friday at 09:00'],
    ['FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR', 'every day from Monday to Friday'],
    ['FREQ=MONTHLY;BYMONTHDAY=-1', 'every month on the last day'],
    ['FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD', 'every month on the 31st, or the last day if there is none'],
    ['FREQ=MONTHLY;BYMONTHDAY=30;SKIP=FORWARD', 'every month on the 30th, or the first of the next if there is none'],
    ['FREQ=MONTHLY;BYMONTHDAY=31', 'every month on the 31st, if there is one'],
    ['FREQ=MONTHLY;BYMONTHDAY=1,15,22,-2', 'every month on the 1st, 15th, 22nd and 2nd to last day'],
    ['FREQ=MONTHLY;BYDAY=2TU', 'every month on the 2nd Tuesday'],
    ['FREQ=MONTHLY;BYDAY=-1FR;BYMONTH=3,6', 'every month on the last Friday in March and June'],
    ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', 'every month on the last working day'],
    ['FREQ=YEARLY', 'every year'],
    ['FREQ=YEARLY;BYMONTH=7;BYMONTHDAY=4', 'every year on 4 July'],
    ['FREQ=YEARLY;UNTIL=20300101T000000Z', 'every year, until 2030-01-01'],
  ])('%s', (rule, expected) => {
    expect(ruleText(rule)).toBe(expected);
  });

  it.each([
    '',
    'every day',
    'FREQ=OFTEN',
    'FREQ=DAILY;INTERVAL=0',
    'FREQ=DAILY;FREQ=WEEKLY',
    'FREQ=YEARLY;BYWEEKNO=3',
    'FREQ=YEARLY;BYDAY=20MO',
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;SKIP=FORWARD',
    'FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13',
    'FREQ=MONTHLY;BYDAY=MO,SU;BYSETPOS=2',
    'FREQ=MONTHLY;BYMONTHDAY=32',
    'FREQ=DAILY;BYHOUR=9',
    'FREQ=MINUTELY;BYHOUR=9;BYMINUTE=1',
  ])('is shown unchanged without an exact sentence: %s', (rule) => {
    expect(ruleText(rule)).toBeNull();
  });
});

describe('cron expression text', () => {
  it.each([
    ['* * * * *', 'every minute'],
    ['*/5 * * * *', 'every 5 minutes'],
    ['0 * * * *', 'every hour'],
    ['30 */6 * * *', 'every 6 hours, at minute 30'],
    ['0 9 * * *', 'every day at 09:00'],
    ['0 9 * * MON-FRI', 'from Monday to Friday at 09:00'],
    ['30 9,17 * * sat,0', 'every Saturday and Sunday at 09:30 and 17:30'],
    ['0 0 1,15 * *', 'on the 1st and 15th of each month at 00:00'],
    ['0 0 31 * *', 'on the 31st of months that have one at 00:00'],
    ['0 12 25 DEC *', 'on the 25th of December at 12:00'],
    ['0 6 * 6-8 *', 'every day in June to August at 06:00'],
    ['*/15 * * * 1-5', 'every 15 minutes, from Monday to Friday'],
    ['0 9 * * 7', 'every Sunday at 09:00'],
    ['0 9 * 6 1', 'every Monday in June at 09:00'],
    ['*/15 * * * 1', 'every 15 minutes, on Monday'],
  ])('%s', (expression, expected) => {
    expect(cronText(expression)).toBe(expected);
  });

  it.each([
    '',
    '@daily',
    '0 9 * *',
    '0 9 * * * *',
    '60 9 * * *',
    '*/7 * * * *',
    '0 9 13 * FRI',
    '0 9 */2 * *',
    '0 9-17 * * *',
    '0 9 L * *',
    '0 9 31 FEB *',
    '0 9 * * FRI-MON',
  ])('is shown unchanged without an exact sentence: %s', (expression) => {
    expect(cronText(expression)).toBeNull();
  });
});

it('rules and expressions offered by the console have sentences', () => {
  expect(RULES.map(([, rule]) => ruleText(rule)).filter((text) => text === null)).toEqual([]);
  expect(CRONS.map(([, expression]) => cronText(expression)).filter((text) => text === null)).toEqual([]);
});
