import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { StatusError } from '../../src/api/status.ts';
import type { AuthorizedResourceRequest } from '../../src/request/api-request.ts';
import { createReviews } from '../../src/verbs/review-handlers.ts';

const RESOURCE = { verb: 'get', resource: 'pods' };
const PATH = { verb: 'get', path: '/x' };
const reviews = new Map(
  createReviews({
    authorizer: {
      authorize: () => ({ decision: 'allow', reason: '' }),
      rules: () => ({ resourceRules: [], nonResourceRules: [] }),
    },
    authenticator: { authenticate: async () => undefined },
    apiAudiences: [],
    isFeatureOn: () => true,
    now: () => new Date('2026-02-02T00:00:00.5Z'),
  }),
);
const request = {
  user: { username: 'u', uid: '', groups: [], extra: {} },
} as unknown as AuthorizedResourceRequest;

/** The answer, or the refusals with their fields. */
async function answer(resource: string, spec: JsonObject, metadata: JsonObject = {}): Promise<unknown> {
  const body = { kind: 'Review', apiVersion: 'g/v1', metadata, spec };
  try {
    return await reviews.get(resource)?.(body, request);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return (error.status.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
  }
}

const NEITHER =
  'spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified';
const NO_SUBJECT = 'spec.user: Invalid value: "": at least one of user or group must be specified';
const BOTH =
  'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes';

test.each<[string, JsonObject, string[], JsonObject?]>([
  ['subjectaccessreviews', {}, [NEITHER, NO_SUBJECT]],
  ['subjectaccessreviews', { user: 'a', resourceAttributes: RESOURCE, nonResourceAttributes: PATH }, [BOTH]],
  ['subjectaccessreviews', { uid: 'a', nonResourceAttributes: PATH }, [NO_SUBJECT]],
  [
    'subjectaccessreviews',
    { groups: ['a'], nonResourceAttributes: PATH },
    ['metadata: Invalid value: {"name":"z"}: must be empty'],
    { name: 'z' },
  ],
  ['selfsubjectaccessreviews', {}, [NEITHER]],
  [
    'localsubjectaccessreviews',
    { user: 'a', resourceAttributes: { ...RESOURCE, namespace: 'other' } },
    [
      'metadata: Invalid value: {"namespace":"own","labels":{"a":"b"}}: must be empty except for namespace',
      'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
    ],
    { namespace: 'own', labels: { a: 'b' } },
  ],
  [
    'localsubjectaccessreviews',
    { user: 'a', nonResourceAttributes: PATH },
    [
      'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request',
    ],
    { namespace: 'own' },
  ],
])('a review that asks nothing clear is refused: %s %j', async (resource, spec, refused, metadata) => {
  expect(await answer(`authorization.k8s.io/${resource}`, spec, metadata)).toEqual(refused);
});

test('a review is answered with itself, managed fields included', async () => {
  const metadata = { managedFields: [], finalizers: [] };
  const spec = { groups: ['g'], nonResourceAttributes: PATH };
  const answered = { metadata, spec, status: { allowed: true } };
  expect(await answer('authorization.k8s.io/subjectaccessreviews', spec, metadata)).toMatchObject(answered);
});

test('who one is and what one may do is answered without the question', async () => {
  expect(await answer('authentication.k8s.io/selfsubjectreviews', {}, { name: 'z' })).toMatchObject({
    metadata: { creationTimestamp: '2026-02-02T00:00:00Z' },
    status: { userInfo: { username: 'u' } },
  });
  const rules = await answer(
    'authorization.k8s.io/selfsubjectrulesreviews',
    { namespace: 'a' },
    { name: 'z' },
  );
  expect(rules).toMatchObject({ metadata: {}, spec: {} });
  expect(JSON.stringify(rules)).not.toContain('"z"');
});
