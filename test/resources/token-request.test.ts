import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import type { ApiObject } from '../../src/api/object-meta.ts';
import { parseFeatureGates } from '../../src/options/feature-gates.ts';
import type { ActionContext } from '../../src/registry/resource-definition.ts';
import type { TokenIssuing } from '../../src/registry/token-issuing.ts';
import { token } from '../../src/resources/core/token-request.ts';

const ISSUING: TokenIssuing = {
  apiAudiences: ['api'],
  maxExpirationSeconds: 0,
  extendsExpiration: false,
  maxExtendedSeconds: 0,
  bindsNodes: true,
  tellsNodes: true,
  checksUids: true,
  sign: async () => `e30.${Buffer.from('{"jti":"1-2-3"}').toString('base64url')}.x`,
};

async function request(minor: Minor) {
  const annotations: string[] = [];
  const context = {
    ...{ namespace: 'default', name: 'web', tokens: ISSUING, warn: () => {} },
    isOn: parseFeatureGates([], '--feature-gates', minor).isEnabled,
    annotate: (key: string, value: string) => annotations.push(`${key} ${value}`),
    get: async () => ({ kind: '', apiVersion: '', metadata: { name: 'web', uid: 'u' } }),
  } as unknown as ActionContext;
  const body: ApiObject = {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: {},
    spec: {},
  };
  const { object } = await token.create(body, context);
  return { annotations, metadata: object.metadata };
}

test('the audit event names the token by its number, and the answer the account by its uid since 1.34', async () => {
  const [older, newer] = [await request(33), await request(34)];
  for (const { annotations } of [older, newer])
    expect(annotations).toEqual(['authentication.kubernetes.io/issued-credential-id JTI=1-2-3']);
  expect(older.metadata).not.toHaveProperty('uid');
  expect(newer.metadata).toMatchObject({ name: 'web', namespace: 'default', uid: 'u' });
});
