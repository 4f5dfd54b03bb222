import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/**
 * The folder tree is the architecture: a file imports only from lower floors, and folders of one floor never each other. From the
 * ground up. A few files have a floor of their own, such as the composition root above what it composes.
 */
const FLOORS: readonly (readonly string[])[] = [
  ['project.ts'],
  ['util', 'x509', 'console', 'testing', 'version.ts'],
  ['observability', 'api'],
  ['object', 'request'],
  ['codec', 'cel'],
  ['structural', 'kubectl-history'],
  ['storage', 'outbound'],
  ['storage/encryption'],
  ['storage/postgres', 'storage/watch-cache', 'storage/threads'],
  ['registry'],
  ['admission', 'authn', 'authz', 'flow-control', 'audit', 'proxy'],
  ['verbs/storage-status.ts'],
  ['verbs/forms', 'verbs/writing'],
  ['verbs/client', 'pages'],
  [
    ...['verbs', 'resources', 'custom-resources', 'aggregation', 'discovery', 'diagnostics'],
    ...['controllers', 'controllers/garbage'],
  ],
  ['history'],
  ['history/blame', 'history/revisions', 'history/timelines', 'history/why', 'history/restore'],
  ['pipeline'],
  ['http'],
  ['options'],
  ['server'],
  ['server.ts'],
  ['cli'],
  ['main.ts'],
];

const FLOOR_OF: ReadonlyMap<string, number> = new Map(
  FLOORS.flatMap((names, floor) => names.map((name) => [name, floor] as const)),
);

/** The composition root knows all implementations. Folders and files that need one are named here, with what they may import. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // Commands that are no server: they migrate a database, or make one.
  cli: ['storage/postgres'],
  // The phase that opens storage, and what it shows of it.
  'server/storage.ts': ['storage/postgres', 'storage/watch-cache'],
  'server/caches.ts': ['storage/watch-cache'],
  'server/databases.ts': ['storage/postgres'],
  'server/storage-metrics.ts': ['storage/postgres', 'storage/watch-cache'],
  'server/health-checks.ts': ['storage/postgres'],
  // Which errors pass by themselves.
  'server/foundation.ts': ['storage/postgres'],
};

const SOURCE = fileURLToPath(new URL('../src', import.meta.url));
const TESTS = fileURLToPath(new URL('.', import.meta.url));
const PROJECT = fileURLToPath(new URL('..', import.meta.url));

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .sort();

function folderOf(file: string): string {
  const parts = dirname(file).split('/');
  const two = parts.slice(0, 2).join('/');
  return FLOOR_OF.has(two) ? two : (parts[0] ?? '');
}

const floorOf = (file: string): number | undefined => FLOOR_OF.get(file) ?? FLOOR_OF.get(folderOf(file));

function importsOf(file: string): string[] {
  const text = readFileSync(join(SOURCE, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    relative(SOURCE, resolve(dirname(join(SOURCE, file)), path)),
  );
}

test('every folder has its floor', () => {
  expect(files.filter((file) => floorOf(file) === undefined)).toEqual([]);
});

test('src/README.md names every folder, in the order of their floors', () => {
  // The first table; those of words and places come later.
  const [map = ''] = readFileSync(join(SOURCE, 'README.md'), 'utf8').split('\n## ');
  const rows = [...map.matchAll(/^\|[^|]*\|([^|]*)\|/gm)]
    .map(([, named = '']) => [...named.matchAll(/`([^`]+?)\/?`/g)].map(([, name = '']) => name))
    .filter((names) => names.length > 0);
  expect([...FLOOR_OF.keys()].filter((name) => !name.includes('.')).sort()).toEqual(
    rows
      .flat()
      .filter((name) => !name.includes('.'))
      .sort(),
  );
  const floors = rows.map((names) => names.map((name) => FLOOR_OF.get(name) ?? Number.NaN));
  const wrong = rows.filter(
    (_, at) => Math.min(...(floors[at - 1] ?? [99])) < Math.max(...(floors[at] ?? [])),
  );
  expect(wrong).toEqual([]);
});

test('a file imports only from lower floors, and folders of one floor never import each other', () => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => folderOf(imported) !== folderOf(file) || FLOOR_OF.has(file))
      .filter((imported) => (floorOf(imported) ?? 99) >= (floorOf(file) ?? 0))
      .map((imported) => `${file} imports ${imported}`),
  );
  expect(wrong).toEqual([]);
});

test('implementations of storage are imported by the composition root alone', () => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((imported) => /^storage\/(postgres|watch-cache)\//.test(imported))
      .filter((imported) => folderOf(imported) !== folderOf(file) && file !== 'server.ts')
      .filter(
        (imported) => !(EXCEPTIONS[file] ?? EXCEPTIONS[folderOf(file)] ?? []).includes(folderOf(imported)),
      )
      .map((imported) => `${file} imports ${imported}`),
  );
  expect(wrong).toEqual([]);
});

test('there are no cycles between files', () => {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      return;
    }
    if (done.has(file)) return;
    for (const imported of importsOf(file)) visit(imported, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(cycles).toEqual([]);
});

/** Where a file may have the name of one elsewhere; src/README.md says why. */
const NAMED_FOR_ANOTHER =
  /^(?:(?:options|pipeline|server|resources|admission\/plugins|kubectl-history\/commands)\/|cli\/[^/]+$|kubectl-history\/main\.ts$)/;
const isNamedForAnother = (file: string): boolean =>
  NAMED_FOR_ANOTHER.test(file) ||
  (file.startsWith('storage/postgres/') && files.includes(`storage/${basename(file)}`));

test('a file name occurs once, except where a rule repeats it', () => {
  const repeated = [
    ...Map.groupBy(
      files.filter((file) => !file.startsWith('api/types/')),
      (file) => basename(file),
    ),
  ].filter(([, paths]) => paths.length > 1);
  const wrong = repeated.filter(([, paths]) => paths.filter((path) => !isNamedForAnother(path)).length > 1);
  expect(wrong.map(([, paths]) => paths)).toEqual([]);
  // May only fall.
  expect(repeated.length).toBeLessThanOrEqual(40);
});

test('there are no barrels, and no file has grown beyond reading', () => {
  expect(files.filter((file) => /(^|\/)index\.ts$/.test(file))).toEqual([]);
  const written = files.filter((file) => !file.startsWith('api/types/'));
  const long = written.filter((file) => readFileSync(join(SOURCE, file), 'utf8').split('\n').length > 420);
  expect(long).toEqual([]);
});

test('comments and the map name no file that is gone', () => {
  const named = /(?<![\w/.])((?:[\w-]+\/)*[\w-]+\.ts)\b/g;
  const texts = [
    ...files.map((file) => [file, commentsIn(readFileSync(join(SOURCE, file), 'utf8')).join('\n')] as const),
    ['README.md', readFileSync(join(SOURCE, 'README.md'), 'utf8')] as const,
  ];
  const gone = texts.flatMap(([file, text]) =>
    [...text.matchAll(named)]
      .map(([, path = '']) => path)
      .filter((path) => !files.some((known) => known === path || known.endsWith(`/${path}`)))
      .filter((path) => file !== 'cli/fixture.ts' || path !== NAME_OF_A_FIXTURE)
      .map((path) => `${file} names ${path}`),
  );
  expect(gone).toEqual([]);
});

/** Words that leave open what acts. */
const VAGUE = /\b(?:nobody|somebody|whoever|anybody|told)\b/i;
/** Stays in migrations that databases have. */
const VAGUE_IN_CODE = /\bwhatever\b/i;
/** Written from descriptions in the IDL, which clients see. */
const GENERATED = ['src/api/types'];
/** Databases hold the checksums of those between the two, whose comments cannot change any more. */
const PLAIN_MIGRATIONS = { upTo: 'migrations/0065', from: 'migrations/0084' };

test('comments and documents name what acts', () => {
  const isExempt = (path: string): boolean =>
    GENERATED.some((folder) => path.startsWith(`${folder}/`)) ||
    (path.endsWith('.sql') && path > PLAIN_MIGRATIONS.upTo && path < PLAIN_MIGRATIONS.from);
  const texts = [
    ...pathsBelow('src', CODE).map((path) => [path, commentsIn(read(path))] as const),
    ...pathsBelow('test', CODE).map((path) => [path, proseIn(read(path))] as const),
    ...[...pathsBelow('migrations', /\.sql$/), 'test/storage/postgres/schema.sql'].map(
      (path) => [path, sqlCommentsIn(read(path))] as const,
    ),
    ...['README.md', ...['src', 'test', 'migrations'].flatMap((folder) => pathsBelow(folder, /\.md$/))].map(
      (path) => [path, [read(path)]] as const,
    ),
  ];
  const vague = texts
    .filter(([path]) => !isExempt(path))
    .flatMap(([path, found]) =>
      found
        .flatMap((text) => text.split('\n'))
        .filter((line) => VAGUE.test(line) || (VAGUE_IN_CODE.test(line) && !path.endsWith('.sql')))
        .map((line) => `${path}: ${line.trim()}`),
    );
  expect(vague).toEqual([]);
});

test('no migration patches the text of a function', () => {
  const migrations = pathsBelow('migrations', /\.sql$/);
  expect(migrations.filter((path) => /pg_get_(?:function|view)def\b/.test(read(path)))).toEqual([]);
});

test('what a file exports, another one imports, and few exports are for tests alone', () => {
  const importedIn = (paths: readonly string[]): Map<string, Set<string>> => {
    const imported = new Map<string, Set<string>>();
    for (const path of paths)
      for (const { from, names } of namesImportedBy(path))
        imported.set(from, new Set([...(imported.get(from) ?? []), ...names]));
    return imported;
  };
  const inSource = importedIn(files.map((file) => join(SOURCE, file)));
  const inTests = importedIn(
    readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => join(TESTS, file)),
  );
  const exports = /^export (?:async |abstract )*(?:function\*?|const|class|interface|type) (\w+)/gm;
  const notOfSource = files
    .filter((file) => !file.startsWith('api/types/'))
    .flatMap((file) => {
      const names = inSource.get(join(SOURCE, file));
      return [...readFileSync(join(SOURCE, file), 'utf8').matchAll(exports)]
        .map(([, name = '']) => ({ file, name }))
        .filter(({ name }) => names?.has(name) !== true && names?.has('*') !== true);
    });
  const unused = notOfSource.filter(({ file, name }) => {
    const names = inTests.get(join(SOURCE, file));
    return names?.has(name) !== true && names?.has('*') !== true;
  });
  expect(unused).toEqual([]);
  // May only fall: test through what the server uses.
  expect(notOfSource.length).toBeLessThanOrEqual(86);
});

test('src/README.md says why each package stays that few files import', () => {
  const importers = new Map<string, Set<string>>();
  for (const file of files)
    for (const [, one, other] of readFileSync(join(SOURCE, file), 'utf8').matchAll(PACKAGE_IMPORTS)) {
      const [first = '', second = ''] = (one ?? other ?? '').split('/');
      const name = first.startsWith('@') ? `${first}/${second}` : first;
      importers.set(name, new Set([...(importers.get(name) ?? []), file]));
    }
  expect(importers.get('pg')?.size).toBeGreaterThan(10);
  const few = [...importers]
    .filter(([name, of]) => of.size <= 2 && !OF_FIXTURES.includes(name))
    .map(([name]) => name);
  const [, section = ''] = readFileSync(join(SOURCE, 'README.md'), 'utf8').split(
    '## Packages of few files\n',
  );
  const [table = ''] = section.split('\n## ');
  const named = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
  expect([...few, 'kysely'].sort()).toEqual(named.sort());
});

/** Imported by what `pg-apiserver fixture` prints. */
const OF_FIXTURES = ['vitest', 'pg-apiserver'];
const NAME_OF_A_FIXTURE = 'cluster.ts';
/** At the beginning of a line, so that texts of messages do not count. */
const PACKAGE_IMPORTS =
  /^(?:import [^;]*?from |\} from |import )'(?!node:)([^'.][^']*)'|^[^'/]*\bimport\('(?!node:)([^'.][^']*)'/gm;

const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');

function pathsBelow(folder: string, name: RegExp): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => name.test(file))
    .map((file) => `${folder}/${file}`)
    .sort();
}

const CODE = /\.(?:tsx?|mjs)$/;
/** Comments, and texts in quotes, which may contain `//` or the start of a comment. */
const TOKENS = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\/\*[\s\S]*?\*\/|\/\/.*$/gm;

const commentsIn = (source: string): string[] =>
  (source.match(TOKENS) ?? []).filter((token) => token.startsWith('/'));

/** Comments, names of tests, and other texts of several words. */
const proseIn = (source: string): string[] =>
  (source.match(TOKENS) ?? []).filter((token) => token.startsWith('/') || token.includes(' '));

const sqlCommentsIn = (source: string): string[] => source.match(/--.*$|\/\*[\s\S]*?\*\//gm) ?? [];

/** The names that a file imports or passes on, of each file that it names; `*` where it takes all of them. */
function namesImportedBy(path: string): { from: string; names: string[] }[] {
  const text = readFileSync(path, 'utf8');
  const statements = /(?:import|export)\s+(?:type\s+)?(\*|\{[^}]*\})[^;']*from\s+'(\.[^']+)'/g;
  const calls = /import\((\s*)'(\.[^']+)'\s*\)/g;
  return [...text.matchAll(statements), ...text.matchAll(calls)].map(([, what = '', from = '']) => ({
    from: resolve(dirname(path), from),
    names: what.startsWith('{')
      ? what.split(/[{},]/).map((name) => name.trim().replace(/^type\s+|\s+as\s.*$/g, ''))
      : ['*'],
  }));
}

test('every relative link of the pages leads to a file or a heading', () => {
  const pages = [...pagesIn(PROJECT)];
  expect(pages).toContain('README.md');
  expect(pages).toContain('src/history/README.md');
  const wrong = pages.flatMap((page) =>
    linksOf(readFileSync(join(PROJECT, page), 'utf8'))
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page}: ${link}`),
  );
  expect(wrong).toEqual([]);
});

/** In no folder that others fill. */
function* pagesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !/^(\.|node_modules$|dist$)/.test(entry.name)) yield* pagesIn(path);
    else if (entry.isFile() && entry.name.endsWith('.md')) yield relative(PROJECT, path);
  }
}

const withoutCode = (page: string): string => page.replaceAll(/^ *```[\s\S]*?^ *```$|`[^`\n]*`/gm, '');

/** Links within the project, `file#heading`, pictures and definitions of links among them. */
const linksOf = (page: string): string[] =>
  [...withoutCode(page).matchAll(/\]\(\s*<?([^)\s>]+)|^ *\[[^\]]+\]:\s*<?(\S+?)>?$/gm)]
    .map(([, inline, defined]) => inline ?? defined ?? '')
    .filter((link) => !/^[a-z][a-z+.-]*:/i.test(link));

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? join(PROJECT, page) : resolve(dirname(join(PROJECT, page)), path);
  if (relative(PROJECT, target).startsWith('..') || !existsSync(target)) return false;
  return heading === undefined || headingsOf(readFileSync(target, 'utf8')).includes(heading);
}

/** As GitHub names them: `## Roles, made by hand` is `roles-made-by-hand`; a second one of the name ends with -1. */
function headingsOf(page: string): string[] {
  const seen = new Map<string, number>();
  return [...page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/^#{1,6} (.+)$/gm)].map(
    ([, title = '']) => {
      const slug = title
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-');
      const times = seen.get(slug) ?? 0;
      seen.set(slug, times + 1);
      return times === 0 ? slug : `${slug}-${times}`;
    },
  );
}
