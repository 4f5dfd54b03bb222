import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseOptions } from '../../src/options/options.ts';
import { createEncryptionChecks, openEncryption } from '../../src/server/encryption.ts';
import { EncryptionFile } from '../../src/storage/encryption/encryption-file.ts';
import { EncodingUnavailable } from '../../src/storage/object-encoding.ts';

const folder = mkdtempSync(join(tmpdir(), 'encryption-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const path = join(folder, 'encryption.json');

function write(...names: readonly string[]): void {
  const providers = names.map((name) => ({
    kms: { apiVersion: 'v2', name, endpoint: `unix://${folder}/${name}.sock` },
  }));
  const resources = [{ resources: ['secrets'], providers: [...providers, { identity: {} }] }];
  writeFileSync(
    path,
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources }),
  );
}

/** Plugins that are well but for those whose names say otherwise. */
function openFile(reloads: boolean): EncryptionFile {
  const nothing = async (): Promise<never> => {
    throw new Error('nothing is encrypted');
  };
  return new EncryptionFile({
    ...{ path, reloads, everyMs: 1 },
    connect: ({ name }) => ({
      status: async () => {
        if (name.startsWith('dead')) throw new EncodingUnavailable(`${name} is away`);
        return { version: 'v2', healthz: 'ok', keyId: '1' };
      },
      encrypt: async () => ({ ciphertext: Buffer.from('x'), keyId: '1', annotations: new Map() }),
      ...{ decrypt: nothing, close: () => {} },
    }),
  });
}

const outcome = async (check: () => Promise<void> | void): Promise<string> => {
  try {
    await check();
    return 'well';
  } catch (error) {
    return String(error);
  }
};

test('each plugin has a check of its own, and none says that the server is not alive', async () => {
  write('one', 'dead-two');
  const checks = createEncryptionChecks(openFile(false));
  expect(checks.map(({ name, endpoints }) => [name, endpoints])).toEqual([
    ['kms-provider-0', ['healthz', 'readyz']],
    ['kms-provider-1', ['healthz', 'readyz']],
  ]);
  const outcomes = await Promise.all(checks.map(({ check }) => outcome(check)));
  expect(outcomes).toEqual(['well', 'EncodingUnavailable: dead-two is away']);
  expect(createEncryptionChecks(undefined)).toEqual([]);
});

test('where the file may change, one check stands for all plugins', async () => {
  write('one', 'dead-two');
  const [all, ...others] = createEncryptionChecks(openFile(true));
  expect([all?.name, others]).toEqual(['kms-providers', []]);
  expect(await outcome(() => all?.check())).toContain('dead-two is away');
});

test('a new file is in effect once its plugins are well; with one that is not, the file before stays', async () => {
  write('one');
  const file = openFile(true);
  const events: string[] = [];
  const stop = new AbortController();
  file.report({
    onReload: () => void events.push('reloaded'),
    onError: (error) => void events.push(String(error)),
    onRecovery: () => {},
  });
  const running = file.run(stop.signal);
  await file.ask();
  const form = (): string | undefined =>
    file.encoding.formOf({ group: '', resource: 'secrets' }, 'application/json');
  const before = form();
  expect(before).toContain('plugin="one"');
  write('dead-two', 'one');
  await expect.poll(() => events).toEqual(['EncodingUnavailable: dead-two is away']);
  expect(form()).toBe(before);
  write('three', 'one');
  await expect.poll(() => events.at(-1)).toBe('reloaded');
  expect(form()).toContain('plugin="three"');
  expect(file.plugins.map(({ name }) => name)).toEqual(['three', 'one']);
  stop.abort();
  await running;
});

test('what is wrong with a file stops the start, in one line that names the flag', () => {
  const open = (file: string) => () =>
    openEncryption(parseOptions([`--encryption-provider-config=${file}`]).storage);
  expect(open(join(folder, 'absent'))).toThrow(/^--encryption-provider-config: .*absent: ENOENT/);
  writeFileSync(path, '{');
  expect(open(path)).toThrow(/^--encryption-provider-config: .*encryption\.json: /);
  writeFileSync(path, 'kind: EncryptionConfiguration\napiVersion: v1\n');
  expect(open(path)).toThrow('apiVersion: Unsupported value: "v1"');
  expect(openEncryption(parseOptions([]).storage)).toBeUndefined();
  expect(() => parseOptions(['--encryption-provider-config-automatic-reload'])).toThrow(
    '--encryption-provider-config-automatic-reload must be set with --encryption-provider-config',
  );
});
