import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { usualFlags } from '../../src/cli/usual-flags.ts';
import { ALL_FLAGS } from '../../src/options/all-flags.ts';
import { parseFlags } from '../../src/options/command-line.ts';
import { bool, duration, int, list, repeated, text, UsageError } from '../../src/options/flag.ts';
import { parseOptions } from '../../src/options/options.ts';

const flags = {
  port: int('port', {
    default: 80,
    meaning: 'where',
    check: (port, flag) => {
      if (port < 1) throw new UsageError(`${flag}: ${port} is no port`);
      return `:${port}` as const;
    },
  }),
  names: list('names', { default: ['a'], meaning: 'which' }),
  pairs: repeated('pairs', { meaning: 'which' }),
  waitMs: duration('wait', { default: '5m', meaning: 'how long' }),
  isOn: bool('on', { meaning: 'whether' }),
  future: text('future', { default: 'x', meaning: 'not yet', isEffective: false }),
};
const read = (...args: string[]) => parseFlags(args, Object.values(flags)).valuesOf(flags);

test('the option of a flag is what its check makes of the value, the default included', () => {
  const { port }: { port: `:${number}` } = read();
  expect(port).toBe(':80');
  expect(read('--port=8080').port).toBe(':8080');
  expect(() => read('--port=0')).toThrow(new UsageError('--port: 0 is no port'));
});

test('lists add up, and of anything else the last one counts', () => {
  expect(read()).toEqual({ port: ':80', names: ['a'], pairs: [], waitMs: 300_000, isOn: false });
  expect(read('--names=b,c', '--names', 'd').names).toEqual(['b', 'c', 'd']);
  expect(read('--pairs=a,b', '--pairs=c').pairs).toEqual(['a,b', 'c']);
  expect(read('--on', '--wait=1s', '--on=false', '--wait=2s')).toMatchObject({ isOn: false, waitMs: 2000 });
});

test('a flag without effect has no option, and may only be given its default', () => {
  expect(read('--future=x')).not.toHaveProperty('future');
  expect(() => read('--future=y')).toThrow('can only be left at its default ("x")');
});

test('every group of options is frozen', () => {
  const options = parseOptions([]);
  expect(Object.isFrozen(options)).toBe(true);
  for (const [group, values] of Object.entries(options)) expect(Object.isFrozen(values), group).toBe(true);
});

test('what npm start adds is understood by the server', () => {
  expect(parseOptions(usualFlags([]))).toMatchObject({
    serving: { bindAddress: '127.0.0.1' },
    authorization: { modes: ['Node', 'RBAC'] },
  });
});

test('code names a flag by its declaration, never by a copy of its name', () => {
  const root = fileURLToPath(new URL('../../src/', import.meta.url));
  // `npm start` reads its flags without loading the server; a fixture is read as it stands; etcd's flags are its own.
  const own = new Set(['cli/usual-flags.ts', 'cli/fixture.ts', 'cli/envtest/assets.ts']);
  const names = new Set(ALL_FLAGS.map(({ name }) => name));
  const copies = ['server', 'cli'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => join(folder, file))
      .filter((file) => file.endsWith('.ts') && !own.has(file))
      .flatMap((file) => {
        const code = readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
        const found = [...code.matchAll(/--([a-z][a-z-]*)/g)].filter(([, name = '']) => names.has(name));
        return found.map(([flag]) => `${file}: ${flag}`);
      }),
  );
  expect(copies).toEqual([]);
});
