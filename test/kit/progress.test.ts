import { expect, test } from 'vitest';
import { Progress } from './progress.ts';

const file = (relativeModuleId: string, isOk = true) => ({ relativeModuleId, ok: () => isOk });

test('a run says every quarter of a minute what is done, what failed, what is left and what runs', () => {
  let now = 1000;
  const lines: string[] = [];
  const progress = new Progress(
    (line) => lines.push(line),
    () => now,
  );
  progress.onTestRunStart(['a', 'b', 'c', 'd']);
  for (const name of ['a', 'b', 'c']) progress.onTestModuleStart(file(name));
  now += 14_999;
  progress.onTestModuleEnd(file('a'));
  expect(lines).toEqual([]);
  now += 50_001;
  progress.onTestModuleEnd(file('c', false));
  expect(lines).toEqual(['1:05: 2 of 4 files done (1 with failures), 2 left; running: b']);
  progress.onTestModuleEnd(file('b'));
  expect(lines).toHaveLength(1);
});
