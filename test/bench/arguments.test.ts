import { expect, test } from 'vitest';
import { commandsOf, FIGURES } from '../kit/pages.ts';
import { parseArguments } from './arguments.ts';
import { GROUPS } from './scenarios/all.ts';

test('each command of the page of figures is understood, and names scenarios that there are', () => {
  const scenarios = GROUPS.flatMap((group) => group.scenarios.map(({ name }) => name));
  const commands = commandsOf(FIGURES);
  expect(commands.length).toBeGreaterThan(3);
  for (const command of commands) {
    const [, args = ''] = /^npm run bench(?: -- (.*))?$/.exec(command) ?? ['', '--unknown'];
    const { only } = parseArguments(args.split(' ').filter((word) => word !== ''));
    for (const prefix of only)
      expect(
        scenarios.some((name) => name.startsWith(prefix)),
        command,
      ).toBe(true);
  }
});
