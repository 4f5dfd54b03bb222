import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { Metrics } from '../../src/observability/metrics.ts';
import { parseOptions } from '../../src/options/options.ts';
import { createServiceAccounts } from '../../src/server/service-accounts.ts';
import { isPassing } from '../../src/storage/postgres/connection/trouble.ts';
import type { StoredSigningKey } from '../../src/storage/signing-keys.ts';
import { persist } from '../../src/util/pause.ts';

type ServiceAccountParts = Parameters<typeof createServiceAccounts>[1];

function signingKey(): StoredSigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const at = '2026-01-01T00:00:00Z';
  return { id: 'one', pem, signs: true, madeAt: at, signsFrom: at };
}

test('a start waits for the keys of service account tokens while the database has no connection for it', async () => {
  const outages = [Object.assign(new Error('sorry, too many clients already'), { code: '53300' })];
  const key = signingKey();
  const list = async (): Promise<readonly StoredSigningKey[]> => {
    const outage = outages.pop();
    if (outage !== undefined) throw outage;
    return [key];
  };
  const unused = (): never => {
    throw new Error('no request is expected here');
  };
  const parts = {
    signingKeys: { file: '', store: { list } },
    serverAddress: 'localhost:6443',
    ...{ emulated: 31 as const, objects: { find: unused }, noteUse: unused, isFeatureOn: () => true },
    logger: { info: unused, warn: unused, error: unused },
    metrics: new Metrics(),
    persistently: (step) =>
      persist(step, { signal: new AbortController().signal, isPassing, onFailure: () => {} }),
  } satisfies ServiceAccountParts;
  const { documents } = await createServiceAccounts(parseOptions([]).authentication, parts);
  expect(documents?.().keySet).toMatchObject({ keys: [{ use: 'sig' }] });
  expect(outages).toEqual([]);
});
