import { expect, test } from 'vitest';
import type { TestModule } from 'vitest/node';
import { Tally } from './tally.ts';

const moduleOf = (name: string, states: Readonly<Record<string, string>>, ok: boolean): TestModule =>
  ({
    relativeModuleId: name,
    ok: () => ok,
    children: {
      allTests: () =>
        Object.entries(states).map(([fullName, state]) => ({ fullName, result: () => ({ state }) })),
    },
  }) as unknown as TestModule;

test('a run ends with the names of what failed, also outside of tests, and one line of counts', () => {
  const lines: string[] = [];
  new Tally((line) => lines.push(line)).onTestRunEnd([
    moduleOf('a.test.ts', { one: 'passed', two: 'failed', three: 'skipped' }, false),
    moduleOf('b.test.ts', { four: 'pending' }, false),
    moduleOf('c.test.ts', { five: 'passed' }, true),
  ]);
  expect(lines).toEqual([
    'failed: a.test.ts > two',
    'failed: b.test.ts > (outside of its tests)',
    '2 passed, 1 failed, 2 skipped',
  ]);
});
