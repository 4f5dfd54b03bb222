import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { invalid, StatusError } from '../../src/api/status.ts';
import type { Auditor } from '../../src/audit/auditor.ts';
import { createUnion } from '../../src/authn/authenticator.ts';
import { duplicate, invalidValue } from '../../src/object/field-errors.ts';
import { goAny } from '../../src/object/go-value.ts';
import { AccessMetrics } from '../../src/observability/access-metrics.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { RequestMetrics } from '../../src/observability/request-metrics.ts';
import { NO_TRACING } from '../../src/observability/tracing.ts';
import { createPipeline } from '../../src/pipeline/pipeline.ts';
import type { ApiRequest } from '../../src/request/api-request.ts';
import { Waits } from '../../src/request/waits.ts';
import { StorageError, type StorageFailure } from '../../src/storage/errors.ts';
import { reviewToken } from '../../src/verbs/review-handlers.ts';

/** A read of a stage through the store, while PostgreSQL is away. */
const fails = (failure: StorageFailure) => (): Promise<never> => Promise.reject(new StorageError(failure));
const away = fails({ kind: 'unavailable', reason: 'connect ECONNREFUSED 10.1.2.3:5432' });
const unknown = fails({ kind: 'unknown', reason: 'no answer' });

const POD = { group: '', version: 'v1', resource: 'pods', namespace: 'default', name: 'a' };

const toRequest = (verb: string, headers: Record<string, string> = {}): ApiRequest =>
  ({
    ...{ id: 'id', method: 'GET', path: '/api/v1/namespaces/default/pods/a', query: new URLSearchParams() },
    ...{ headers, verb, target: { ...POD, subresource: '', subpath: '' }, userAgent: '', aborted: false },
    raw: { headers: Object.entries(headers).flat() },
    signal: new AbortController().signal,
    waits: new Waits(),
    warn: () => {},
  }) as unknown as ApiRequest;

const CALLER = { username: 'u', uid: '', groups: [], extra: {} };

type Options = Parameters<typeof createPipeline>[0];
type Stages = Partial<Pick<Options, 'authenticator' | 'authorizer' | 'resources' | 'minor'>>;

/** A server of which only the named stages do anything. Answers what a client and the audit log see. */
async function answer(stages: Stages, request = toRequest('get'), metrics = new Metrics()) {
  const recorded: (number | undefined)[] = [];
  const trail = {
    ...{ stage: async () => true, annotate: () => {} },
    failed: (error: unknown) => recorded.push(error instanceof StatusError ? error.status.code : 500),
    status: ({ code }: { code?: number }) => recorded.push(code),
  };
  const logged: string[] = [];
  const note = (...said: unknown[]): void => void logged.push(said.map(String).join(' '));
  const pipeline = createPipeline({
    authenticator: { authenticate: () => ({ user: CALLER }) },
    authorizer: { authorize: () => ({ decision: 'allow', reason: '' }) },
    resources: () => Promise.reject(new Error('nothing is served')),
    ...stages,
    anonymous: { allows: () => true },
    stripCredentials: () => {},
    ...{ allowsOrigin: () => false, externalHostname: '' },
    ...{ flowControl: undefined, tracing: NO_TRACING, requestTimeoutMs: 60_000 },
    auditor: { begin: () => trail, rejected: () => {} } as unknown as Auditor,
    documents: () => undefined,
    statusSchema: loadTypes().message('meta/v1.Status'),
    logger: { error: note, warn: note, info: note },
    requestMetrics: new RequestMetrics(new Metrics()),
    accessMetrics: new AccessMetrics(metrics),
    kindOf: () => 'Pod',
    removedReleaseOf: () => undefined,
  } as Options);
  const response = await pipeline(request);
  if (response.kind !== 'bytes') throw new Error(`it is a ${response.kind}`);
  const status = JSON.parse(Buffer.concat(response.chunks.map((chunk) => Buffer.from(chunk))).toString());
  return { code: response.code, headers: response.headers ?? {}, status, recorded };
}

const authorizerOf = (authorize: () => Promise<never>) => ({ authorize }) as unknown as Options['authorizer'];

test.each<[string, Stages, ApiRequest?]>([
  ['authentication', { authenticator: { authenticate: away } }],
  [
    'one of several authenticators',
    {
      authenticator: createUnion([
        { authenticate: () => Promise.reject(new Error('wrong')) },
        { authenticate: away },
      ]),
    },
  ],
  ['authorization', { authorizer: authorizerOf(away) }],
  ['impersonation', { authorizer: authorizerOf(away) }, toRequest('get', { 'impersonate-user': 'eve' })],
  ['a verb', { resources: away }],
])(
  'what %s cannot read from the database is answered 503, which clients repeat',
  async (_, stages, request) => {
    const { code, headers, status, recorded } = await answer(stages, request);
    expect(code).toBe(503);
    expect(headers).toEqual({ 'retry-after': '1' });
    expect(status).toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
    expect(JSON.stringify(status)).not.toContain('10.1.2.3');
    expect(recorded).toEqual([503]);
  },
);

test('a write whose outcome is unknown is answered 504, which clients do not repeat', async () => {
  const { code, headers, recorded } = await answer({ resources: unknown }, toRequest('create'));
  expect({ code, headers, recorded }).toEqual({ code: 504, headers: {}, recorded: [504] });
});

test('wrong credentials are answered 401', async () => {
  const wrong = { authenticate: () => Promise.reject(new Error('expired')) };
  expect((await answer({ authenticator: createUnion([wrong, wrong]) })).code).toBe(401);
});

test('a token that cannot be looked up is not called wrong', async () => {
  const body = { kind: 'TokenReview', apiVersion: 'v1', metadata: {}, spec: { token: 't' } };
  const review = reviewToken(body, { authenticator: { authenticate: away }, apiAudiences: [] });
  await expect(review).rejects.toThrow(StorageError);
});

test.each([
  [33, 'map[string]interface {}{"name":"a"}', '[]string{"b"}'],
  [34, '{"name":"a"}', '["b"]'],
] as const)('1.%i shows the values of wrong fields in its notation', async (minor, object, list) => {
  const errors = [duplicate('spec.a', goAny({ name: 'a' })), invalidValue('spec.b', ['b'], 'is wrong')];
  const resources = () => Promise.reject(invalid({ kind: 'Pod', group: '' }, 'a', errors));
  const { status } = await answer({ resources, minor });
  const messages = [`Duplicate value: ${object}`, `Invalid value: ${list}: is wrong`];
  expect(status.message).toBe(`Pod "a" is invalid: [spec.a: ${messages[0]}, spec.b: ${messages[1]}]`);
  expect(status.details.causes).toMatchObject(messages.map((message) => ({ message })));
});
