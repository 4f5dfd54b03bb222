import { expect, test, vi } from 'vitest';
import { createLogger, createSplitOutput, readRegions } from '../../src/observability/logger.ts';

function record(options: Partial<Parameters<typeof createLogger>[0]> = {}) {
  const lines: string[] = [];
  const logger = createLogger({ verbosity: 0, write: (line) => void lines.push(line), ...options });
  return { lines, logger };
}

test('a line names severity, time, process, place, message and fields, in the form of klog', () => {
  const { lines, logger } = record();
  logger.info(0, 'Pod "a" moved', { pod: 'default/a', count: 3, nested: { a: 1 } });
  logger.warn('careful');
  logger.error('broken', new Error('why', { cause: new Error('because') }));
  expect(lines[0]).toMatch(
    /^I\d{4} \d\d:\d\d:\d\d\.\d{6} {1,6}\d+ logger\.test\.ts:\d+\] "Pod \\"a\\" moved" pod="default\/a" count=3 nested=\{"a":1\}\n$/,
  );
  expect(lines[1]).toMatch(/^W.*"careful"\n$/);
  expect(lines[2]).toMatch(/^E.*"broken" err="Error: why\\n.*\(Error: because/);
});

test('a line in JSON has the keys of component-base, and a verbosity unless it is an error', () => {
  const { lines, logger } = record({ verbosity: 4, format: 'json' });
  logger.info(4, 'moved', { pod: 'default/a', msg: 'forged' });
  logger.error('broken', new Error('why'));
  const [moved, broken] = lines.map((line) => JSON.parse(line));
  expect(Object.keys(moved)).toEqual(['ts', 'caller', 'msg', 'v', 'pod']);
  expect(moved).toMatchObject({ msg: 'moved', v: 4, pod: 'default/a' });
  expect(moved.caller).toMatch(/^logger\.test\.ts:\d+$/);
  expect(moved.ts / 1000).toBeCloseTo(Date.now() / 1000, -1);
  expect(broken).toMatchObject({ msg: 'broken', err: expect.stringContaining('Error: why') });
  expect(broken).not.toHaveProperty('v');
});

test('text from a caller cannot begin a line of its own', () => {
  const { lines, logger } = record();
  logger.info(0, 'a\nE1121 forged', { key: 'b\nc' });
  expect(lines.join('').split('\n')).toHaveLength(2);
});

test('-v decides, --vmodule decides for files by name, and fields are made only for lines that are written', () => {
  const { lines, logger } = record({ verbosity: 1, modules: [{ pattern: 'other', level: 9 }] });
  const fields = vi.fn(() => ({}));
  logger.info(2, 'too detailed', fields);
  expect(fields).not.toHaveBeenCalled();
  expect(lines).toEqual([]);
  const own = record({ modules: [{ pattern: 'log?er', level: 4 }] });
  own.logger.info(4, 'detailed');
  own.logger.info(5, 'too detailed');
  expect(own.lines).toHaveLength(1);
  logger.setVerbosity(2);
  logger.info(2, 'now');
  expect(lines).toHaveLength(1);
});

test('buffered lines are written when the buffer is full, when time is up, and before an error', () => {
  vi.useFakeTimers();
  const written: string[] = [];
  const output = createSplitOutput({
    info: { write: (text) => written.push(`info ${text}`) },
    error: { write: (text) => written.push(`error ${text}`) },
    bufferBytes: 10,
    flushEveryMs: 1000,
  });
  output.write('I', 'abc');
  expect(written).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(written).toEqual(['info abc']);
  output.write('I', 'abc');
  output.write('E', 'oh');
  expect(written.slice(1)).toEqual(['info abc', 'error oh']);
  output.write('W', '1234567890');
  expect(written.at(-1)).toBe('info 1234567890');
  vi.useRealTimers();
});

test('an error that was to be expected is one line without a trace, when it is news at its place', () => {
  const places = new Set<string>();
  const { lines, logger } = record({
    expected: (error, place) => {
      if (!(error instanceof Error) || error.message !== 'away') return undefined;
      const isNews = !places.has(place);
      places.add(place);
      return { trouble: 'the database is away', isNews };
    },
  });
  for (let n = 0; n < 100; n += 1) logger.error(`request ${n}`, new Error('away'));
  logger.error('another place', new Error('away'));
  logger.error('another error', new Error('odd'));
  logger.error('no error at all');
  expect(lines).toEqual([
    expect.stringMatching(/^W.*"request 0" trouble="the database is away"\n$/),
    expect.stringMatching(/^W.*"another place" trouble="the database is away"\n$/),
    expect.stringMatching(/^E.*"another error" err="Error: odd\\n +at /),
    expect.stringMatching(/^E.*"no error at all"\n$/),
  ]);
});

test('a bundle tells which file each of its lines was', () => {
  const text = [
    'import "a";',
    '// dist/version.js',
    'one',
    '//#endregion',
    '// dist/cli/serve.js',
    'two',
  ].join('\n');
  expect(readRegions(text)).toEqual([
    { file: 'version.js', begin: 2 },
    { file: 'serve.js', begin: 5 },
  ]);
});
