import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { StatusError } from '../../src/api/status.ts';
import type { ActionContext } from '../../src/registry/resource-definition.ts';
import { token } from '../../src/resources/core/token-request.ts';
import { gatesIn } from '../kit/manifests.ts';
import { NO_TOKENS } from '../kit/tokens.ts';

/** The metadata of the answer, or the code of the refusal; and the warnings. */
async function answer(minor: Minor, metadata: JsonObject, checksUids = false) {
  const warnings: string[] = [];
  const account = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'robot', uid: 'own' } };
  const context = {
    ...{ namespace: 'default', name: 'robot', isOn: gatesIn(minor), dryRun: false },
    tokens: { ...NO_TOKENS, checksUids, sign: async () => 'signed' },
    warn: (text: string) => void warnings.push(text),
    get: async () => account,
  } as unknown as ActionContext;
  try {
    const body = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', metadata, spec: {} };
    const { object } = await token.create(body, context as never);
    return { metadata: object.metadata as JsonObject, warnings };
  } catch (error) {
    if (error instanceof StatusError) return { code: error.status.code, warnings };
    throw error;
  }
}

test('the answer names the account by its uid, since 1.34', async () => {
  expect((await answer(34, {})).metadata).toMatchObject({ name: 'robot', namespace: 'default', uid: 'own' });
  expect((await answer(33, {})).metadata).not.toHaveProperty('uid');
});

test('another uid is refused, or warned of, since 1.34', async () => {
  const { metadata, warnings } = await answer(34, { uid: 'other' });
  expect(metadata).toMatchObject({ uid: 'other' });
  expect(warnings).toEqual([expect.stringContaining('does not match the UID of the service account (own)')]);
  expect((await answer(34, { uid: 'other' }, true)).code).toBe(409);
  expect((await answer(33, { uid: 'other' })).warnings).toEqual([]);
});

test('the metadata of the request come back', async () => {
  const given = { labels: { a: 'b' }, managedFields: [{ manager: 'm' }] };
  expect((await answer(31, given)).metadata).toMatchObject(given);
});
