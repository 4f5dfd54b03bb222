import { expect, test, vi } from 'vitest';
import { Progress } from '../../../src/cli/transfer/progress.ts';

const written: string[] = [];
const write = (text: string): void => void written.push(text);

test('lines of the result and of the log begin where the bar was, and not behind it', () => {
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  const progress = new Progress(true, write);
  progress.begin('pods', 1);
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1000);
  progress.add(1);
  progress.tell('differs: pods a');
  progress.say('a line of the log');
  vi.restoreAllMocks();
  expect(written.join('').replaceAll('\r\u001b[2K', '|')).toMatch(
    /^\|\[#+\] 1 of 1, .*\|differs: pods a\n\|a line of the log\n$/,
  );
});

test('without a terminal that can erase lines there is no bar', () => {
  written.length = 0;
  vi.stubEnv('TERM', 'dumb');
  const isTTY = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY') ?? { configurable: true };
  Object.defineProperty(process.stderr, 'isTTY', { configurable: true, value: true });
  const progress = new Progress(undefined, write);
  Object.defineProperty(process.stderr, 'isTTY', isTTY);
  progress.begin('pods', 1);
  progress.add(1);
  progress.say('a line');
  vi.unstubAllEnvs();
  expect(written).toEqual(['a line\n']);
});
