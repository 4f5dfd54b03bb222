import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { assetFlags } from '../src/cli/envtest/assets.ts';
import { exportFlags } from '../src/cli/export.ts';
import { kubeadmFlags } from '../src/cli/kubeadm/kubeadm-flags.ts';
import { moveFlags } from '../src/cli/move.ts';
import { importFlags } from '../src/cli/transfer/import-flags.ts';
import { FLAGS, KUBECTL_FLAGS } from '../src/kubectl-history/flags.ts';
import { ALL_FLAGS } from '../src/options/all-flags.ts';
import { USAGE } from './bench/arguments.ts';
import { blocksOf, PAGES, readPage } from './kit/pages.ts';

const SOURCE = fileURLToPath(new URL('../src', import.meta.url));

/** Which tests run the blocks of a language. */
const RUN_BY: Readonly<Record<string, string>> = {
  sql: 'storage/postgres/roles.test.ts',
  sh: 'e2e/documentation.test.ts',
  console: 'e2e/documentation.test.ts',
};

/** Of `migrate`, which reads its own. */
const MIGRATE_FLAGS = ['list', 'dry-run', 'to', 'roles'];
const NPM_FLAGS = ['omit'];
const KNOWN_FLAGS = new Set([
  ...[
    ...[ALL_FLAGS, KUBECTL_FLAGS],
    ...[kubeadmFlags, assetFlags, exportFlags, importFlags, moveFlags, FLAGS].map((flags) =>
      Object.values(flags),
    ),
  ]
    .flat()
    .map(({ name }) => name),
  ...MIGRATE_FLAGS,
  ...NPM_FLAGS,
  ...[...USAGE.matchAll(/^ {2}--([\w-]+)/gm)].map(([, name = '']) => name),
]);

test('each block of the pages is of a language whose blocks a test runs, or a picture', () => {
  const others = PAGES.flatMap(blocksOf)
    .filter(({ language, text }) => RUN_BY[language] === undefined && !(language === '' && /──/.test(text)))
    .map(({ page, text }) => `${page}: ${text}`);
  expect(others).toEqual([]);
  for (const path of Object.values(RUN_BY)) {
    const tests = readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
    expect(tests, path).toMatch(/from '[./]+\/kit\/pages\.ts'/);
  }
});

test('the pages name only flags that there are', () => {
  const unknown = PAGES.flatMap((page) =>
    [...withoutBlocks(readPage(page)).matchAll(/(?<![\w-])--([a-z][a-z0-9-]*)/g)]
      .map(([, name = '']) => name)
      .filter((name) => !KNOWN_FLAGS.has(name))
      .map((name) => `${page}: --${name}`),
  );
  expect(unknown).toEqual([]);
});

test('the pages name only metrics that there are', () => {
  const code = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(SOURCE, file), 'utf8'))
    .join('\n');
  const named = PAGES.flatMap((page) => readPage(page).match(/\b(pg_)?apiserver_[a-z_]+/g) ?? []);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !code.includes(`'${name}'`))).toEqual([]);
});

test('README can be read in a minute, and leads to all other pages', () => {
  const text = readPage('README.md');
  expect(text.split('\n').length).toBeLessThanOrEqual(150);
  for (const page of [...PAGES, 'src/README.md', 'test/faults/README.md'])
    if (page !== 'README.md') expect(text).toContain(`](${page})`);
});

const withoutBlocks = (text: string): string => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');

test('the pages name the package as npm pack does', () => {
  const { name, version } = JSON.parse(readFileSync(join(SOURCE, '..', 'package.json'), 'utf8'));
  const named = PAGES.flatMap((page) => readPage(page).match(/[\w-]+-\d+\.\d+\.\d+\.tgz/g) ?? []);
  expect([...new Set(named)]).toEqual([`${name}-${version}.tgz`]);
});
