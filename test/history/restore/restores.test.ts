import { expect, test } from 'vitest';
import { loadTypes } from '../../../src/api/idl/types.ts';
import { boundHistoryWork } from '../../../src/history/large-work.ts';
import { createRestores } from '../../../src/history/restore/restores.ts';
import { Registry } from '../../../src/registry/registry.ts';
import type { AuthorizedResourceRequest } from '../../../src/request/api-request.ts';
import { namespaces } from '../../../src/resources/core/namespace.ts';
import type { History } from '../../../src/storage/history.ts';
import { ALICE } from '../../audit/kit.ts';

type RestoreParts = Parameters<typeof createRestores>[0];

const { signal } = new AbortController();

const request: Partial<AuthorizedResourceRequest> = {
  ...{ id: 'r', user: ALICE, query: new URLSearchParams(), receivedAt: new Date(), signal, aborted: false },
  ...{ userAgent: '', sourceAddress: '' },
};

const SPEC = { namespace: 'ns', to: '1' };

test('of restores of many objects two are done at a time and eight wait; further ones get 429', async () => {
  const registry = new Registry();
  registry.add(namespaces, () => true);
  let begun = 0;
  const never = (): Promise<never> => {
    begun += 1;
    return new Promise(() => {});
  };
  const parts: Partial<RestoreParts> = {
    ...{ registry, types: loadTypes(), requestTimeoutMs: 60_000, now: () => new Date() },
    authorizer: {
      authorize: async () => ({ decision: 'allow', reason: '' }),
      rules: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
    },
    historyOf: () => ({ begin: never }) as Partial<History> as History,
    large: boundHistoryWork().restores,
  };
  const [, restore] = createRestores(parts as RestoreParts);
  const post = () =>
    restore(
      { kind: 'Restore', apiVersion: 'history.cluster.io/v1alpha1', metadata: {}, ...{ spec: SPEC } },
      request as AuthorizedResourceRequest,
    );
  for (let at = 0; at < 10; at += 1) void post();
  await expect(post()).rejects.toMatchObject({
    status: { code: 429, details: { retryAfterSeconds: expect.any(Number) } },
  });
  await expect.poll(() => begun).toBe(2);
});
