import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { run } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { formatHelp } from '../../src/options/help.ts';
import { describeVersion } from '../../src/version.ts';
import { commandsOf, PAGES, readPage } from '../kit/pages.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

test('--help lists each command once, with what it does', () => {
  const lines = formatHelp([], COMMANDS).split('\n');
  for (const { name, meaning } of COMMANDS) {
    const at = lines.flatMap((line, number) =>
      `${line} `.startsWith(`  pg-apiserver ${name} `) ? [number] : [],
    );
    expect(at, name).toHaveLength(1);
    const [first = 0] = at;
    const below = lines
      .slice(first, first + 3)
      .join(' ')
      .replace(/ +/g, ' ');
    expect(below).toContain(meaning[0]);
  }
});

test('the pages name only commands that --help lists', () => {
  const typed = PAGES.flatMap((page) => [
    ...commandsOf(page),
    ...[...readPage(page).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code),
  ]);
  const named = typed.flatMap((code) => /^pg-apiserver ([a-z][a-z-]+)/.exec(code)?.[1] ?? []);
  const known = new Set(COMMANDS.map(({ name }) => name));
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('--version names the version of package.json and the commit of the build', () => {
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  expect(describeVersion('5b3170b51a90')).toBe(
    `pg-apiserver ${version} (commit 5b3170b51a90, Kubernetes 1.31)`,
  );
  expect(describeVersion('')).toBe(`pg-apiserver ${version} (built without git, Kubernetes 1.31)`);
});

test.each([
  ['doctr', 'there is no command "doctr": did you mean doctor?'],
  ['frobnicate', 'there is no command "frobnicate": --help lists the commands'],
  ['help doctr', 'there is no command "doctr": did you mean doctor?'],
])('a command that there is not, such as %s, is refused with the one that is near', async (words, said) => {
  using written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect(await run(words.split(' '))).toBe(2);
  expect(written.mock.calls).toEqual([[`pg-apiserver: ${said}\n`]]);
});

test('--help fits a terminal of 100 columns, and help is the same', async () => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  expect(await run(['--help'])).toBe(0);
  expect(await run(['help'])).toBe(0);
  const [[said], ...others] = written.mock.calls.splice(0) as [[string], ...string[][]];
  written.mockRestore();
  expect(others).toEqual([[said]]);
  expect(said.split('\n').filter((line) => line.length > 100)).toEqual([]);
});

test('--help behind a command, and help before one, is about that command', async () => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  for (const { name, meaning } of COMMANDS.filter((command) => command.name !== 'start')) {
    expect(await run([name, '--help'])).toBe(0);
    const said = String(written.mock.calls.splice(0)[0]?.[0]);
    expect(await run(['help', name])).toBe(0);
    expect(written.mock.calls.splice(0)).toEqual([[said]]);
    for (const line of meaning) expect(said.replace(/\s+/g, ' ')).toContain(line);
    expect(said.match(/^ {2}pg-apiserver /gm), name).toHaveLength(1);
    expect(said.includes('--control-plane-endpoint'), name).toBe(name === 'kubeadm-config');
  }
  written.mockRestore();
});
