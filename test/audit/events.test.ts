import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { internalError, notFound, unauthorized } from '../../src/api/status.ts';
import { type AuditRecord, sourceAddresses } from '../../src/audit/audit-event.ts';
import { AuditMetrics } from '../../src/audit/audit-metrics.ts';
import { parsePolicy } from '../../src/audit/audit-policy.ts';
import { Auditor } from '../../src/audit/auditor.ts';
import { formatLegacy } from '../../src/audit/log-sink.ts';
import { encodeValue } from '../../src/codec/wire-formats.ts';
import { Http1Incoming } from '../../src/http/http1-incoming.ts';
import { IncomingRequest } from '../../src/http/incoming-request.ts';
import { annotateVerdict, audit, auditAuthentication } from '../../src/pipeline/audit.ts';
import { type AuthenticatedRequest, markAuthenticated } from '../../src/request/api-request.ts';
import type { ApiResponse, BytesResponse } from '../../src/request/api-response.ts';
import { ALICE, Losses } from './kit.ts';

const types = loadTypes();

function incomingOf(method: string, url: string, headers: Record<string, string> = {}): IncomingRequest {
  const socket = { remoteAddress: '::ffff:10.0.0.9' };
  const incoming = Object.assign(new EventEmitter(), { method, url, headers, socket });
  return new IncomingRequest(new Http1Incoming(incoming as unknown as IncomingMessage));
}

const requestOf = (...parameters: Parameters<typeof incomingOf>): AuthenticatedRequest =>
  markAuthenticated(incomingOf(...parameters), ALICE);

function start(rules: string, stored = true) {
  const records: AuditRecord[] = [];
  const losses = new Losses();
  const registry = new Registry();
  const sink = {
    process: (more: readonly AuditRecord[]) => {
      records.push(...more);
      return stored;
    },
    close: async () => {},
  };
  const policy = parsePolicy(`apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n${rules}`);
  const metrics = new AuditMetrics(registry);
  const now = (): Date => new Date('2026-11-21T08:00:01.234Z');
  const auditor = new Auditor({ policy, sink, types, metrics, report: losses.report, now });
  const events = () => records.map((record) => JSON.parse(record.toJson('audit.k8s.io/v1')));
  return { auditor, events, losses, registry, records };
}

function answer(value: object, format: 'json' | 'yaml' = 'json', pretty = false): BytesResponse {
  const chunks = [encodeValue(value, { format, pretty })];
  return { kind: 'bytes', code: 200, contentType: `application/${format}`, chunks, compressible: false };
}

const SECRET = {
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: { name: 's', managedFields: [{ manager: 'kubectl' }] },
  data: { password: 'aHVudGVyMg==' },
};
const URL_OF_S = '/api/v1/namespaces/ns/secrets/s';

const serve = (request: AuthenticatedRequest, response: ApiResponse) => async () => {
  request.audit?.requestObject(SECRET);
  return response;
};

test('an event has every field of the API, and its stages the same id', async () => {
  const { auditor, events } = start('- level: RequestResponse');
  const request = requestOf('PUT', `${URL_OF_S}?fieldManager=x`, {
    'user-agent': 'kubectl/v1.31',
    'audit-id': 'mine',
    'x-forwarded-for': '1.2.3.4',
  });
  await audit({ auditor }, request, () => {
    annotateVerdict(request, { decision: 'allow', reason: 'because' });
    request.audit?.impersonated({ ...ALICE, username: 'bob', groups: [], uid: '' });
    return serve(request, answer(SECRET))();
  });
  const [received, complete] = events();
  expect(received).toEqual({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'RequestResponse',
    auditID: 'mine',
    stage: 'RequestReceived',
    requestURI: `${URL_OF_S}?fieldManager=x`,
    verb: 'update',
    user: { username: 'alice', uid: 'u1', groups: ['developers', 'system:authenticated'] },
    sourceIPs: ['1.2.3.4', '10.0.0.9'],
    userAgent: 'kubectl/v1.31',
    objectRef: { resource: 'secrets', namespace: 'ns', name: 's', apiVersion: 'v1' },
    requestReceivedTimestamp: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
    stageTimestamp: received.requestReceivedTimestamp,
  });
  expect(complete).toEqual({
    ...received,
    stage: 'ResponseComplete',
    stageTimestamp: '2026-11-21T08:00:01.234000Z',
    impersonatedUser: { username: 'bob' },
    annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': 'because' },
    responseStatus: { metadata: {}, code: 200 },
    requestObject: SECRET,
    responseObject: SECRET,
  });
});

test.each([
  ['Metadata', false, false],
  ['Request', true, false],
  ['RequestResponse', true, true],
])('level %s records the request: %s, the response: %s', async (level, hasRequest, hasResponse) => {
  const { auditor, events, records } = start(`- level: ${level}`);
  const request = requestOf('POST', '/api/v1/namespaces/ns/secrets');
  await audit({ auditor }, request, serve(request, answer(SECRET)));
  const complete = events()[1];
  expect(complete.requestObject !== undefined).toBe(hasRequest);
  expect(complete.responseObject !== undefined).toBe(hasResponse);
  expect(complete.objectRef.name).toBe('s');
  if (level === 'Metadata') {
    expect(records.map((record) => record.toJson()).join()).not.toContain('aHVudGVyMg');
  }
});

test('managed fields are left out where the policy says so, of objects, lists and tables, and stay in the answer', async () => {
  const { auditor, events } = start('- {level: RequestResponse, omitManagedFields: true}');
  const list = { kind: 'SecretList', apiVersion: 'v1', metadata: {}, items: [SECRET] };
  const table = { kind: 'Table', apiVersion: 'meta.k8s.io/v1', rows: [{ cells: [1], object: SECRET }] };
  for (const value of [SECRET, list, table]) {
    const request = requestOf('PUT', URL_OF_S);
    const response = answer(value);
    await audit({ auditor }, request, serve(request, response));
    expect(Buffer.concat(response.chunks).toString()).toContain('managedFields');
  }
  expect(JSON.stringify(events())).not.toContain('managedFields');
  expect(events()).toHaveLength(6);
  expect(SECRET.metadata.managedFields).toHaveLength(1);
});

test('an answer in any format is recorded as JSON on one line', async () => {
  const { auditor, events, records, losses } = start('- level: RequestResponse');
  const { metadata: _, ...rest } = SECRET;
  const secret = { ...rest, metadata: { name: 's' } };
  const protobuf = encodeValue(
    secret,
    { format: 'protobuf', pretty: false },
    types.message('core/v1.Secret'),
  );
  const answers: BytesResponse[] = [
    answer(secret),
    answer(secret, 'json', true),
    answer(secret, 'yaml'),
    { ...answer(secret), contentType: 'application/vnd.kubernetes.protobuf', chunks: [protobuf] },
  ];
  for (const response of answers) await audit({ auditor }, requestOf('GET', URL_OF_S), async () => response);
  const complete = events().filter(({ stage }) => stage === 'ResponseComplete');
  expect(complete).toHaveLength(answers.length);
  for (const { responseObject } of complete) expect(responseObject).toMatchObject(secret);
  for (const record of records) expect(record.toJson()).not.toContain('\n');
  await audit({ auditor }, requestOf('GET', URL_OF_S), async () => ({
    ...answer(secret),
    contentType: 'text/plain',
    chunks: [Buffer.from('line\nline\n')],
  }));
  expect(events().at(-1)).not.toHaveProperty('responseObject');
  expect(losses.lost).toEqual([]);
});

test('an answer that is made while it is sent is recorded and sent whole', async () => {
  const { auditor, events } = start('- level: RequestResponse');
  const [bytes] = answer(SECRET).chunks;
  const half = (bytes?.length ?? 0) >> 1;
  const pieces = [bytes?.subarray(0, half), bytes?.subarray(half)].map((piece) => Buffer.from(piece ?? ''));
  /** A piece is gone when the next is asked for. */
  function* rest(): Iterable<Buffer> {
    for (const piece of pieces) {
      yield piece;
      piece.fill(0);
    }
  }
  const sent = await audit({ auditor }, requestOf('GET', URL_OF_S), async () => ({
    ...answer(SECRET),
    chunks: [],
    rest: rest(),
  }));
  expect(events()[1].responseObject).toEqual(SECRET);
  if (sent.kind !== 'bytes') throw new Error('other bytes were sent');
  expect(JSON.parse(Buffer.concat(sent.chunks).toString())).toEqual(SECRET);
  expect(sent.rest).toBeUndefined();
});

test('answers that no object is asked for with have no body in the event', async () => {
  const { auditor, events } = start('- level: RequestResponse');
  await audit({ auditor }, requestOf('GET', '/version'), async () => answer({ gitVersion: 'v1.31' }));
  expect(events()[1]).not.toHaveProperty('responseObject');
  expect(events()[1]).not.toHaveProperty('objectRef');
});

test('a refusal is recorded with its status, an unforeseen error as a panic', async () => {
  const { auditor, events } = start('- {level: Metadata, omitStages: [RequestReceived]}');
  const missing = notFound({ group: '', resource: 'secrets' }, 's');
  const fail = (error: Error) => audit({ auditor }, requestOf('GET', URL_OF_S), () => Promise.reject(error));
  await expect(fail(missing)).rejects.toBe(missing);
  await expect(fail(new TypeError('oops'))).rejects.toThrow('oops');
  await expect(fail(internalError('known'))).rejects.toThrow('known');
  expect(events()).toMatchObject([
    {
      stage: 'ResponseComplete',
      responseStatus: {
        metadata: {},
        status: 'Failure',
        reason: 'NotFound',
        message: 'secrets "s" not found',
        details: { name: 's', kind: 'secrets' },
        code: 404,
      },
    },
    { stage: 'Panic', responseStatus: { message: "APIServer panic'd: oops", code: 500 } },
    { stage: 'ResponseComplete', responseStatus: { code: 500 } },
  ]);
});

test('a stream is recorded when it begins, with its first frame or before, and when it ends', async () => {
  const { auditor, events } = start('- {level: RequestResponse, omitStages: [RequestReceived]}');
  const stages = () => events().map(({ stage, responseStatus }) => `${stage} ${responseStatus.code}`);
  const seen: string[][] = [];
  const sink = { open: () => {}, write: () => true, drained: async () => {} };
  const response = await audit({ auditor }, requestOf('GET', '/api/v1/pods?watch=1'), async () => ({
    kind: 'stream',
    code: 200,
    contentType: 'application/json',
    run: async (outlet) => {
      seen.push(stages());
      outlet.write(Buffer.from('{}'));
      outlet.write(Buffer.from('{}'));
      seen.push(stages());
    },
  }));
  expect(events()).toEqual([]);
  if (response.kind !== 'stream') throw new Error('not a stream');
  await response.run(sink);
  expect(seen).toEqual([[], ['ResponseStarted 200']]);
  expect(stages()).toEqual(['ResponseStarted 200', 'ResponseComplete 200']);
});

test('a connection that changes its protocol is recorded when it does, and when it ends', async () => {
  const { auditor, events } = start('- {level: RequestResponse, omitStages: [RequestReceived]}');
  const stages = () => events().map(({ stage, responseStatus }) => `${stage} ${responseStatus.code}`);
  const during: string[] = [];
  const exec = requestOf('POST', '/api/v1/namespaces/ns/pods/p/exec?command=id');
  const response = await audit({ auditor }, exec, async () => ({
    kind: 'tunnel',
    code: 101,
    run: async () => {
      during.push(...stages());
    },
  }));
  if (response.kind !== 'tunnel') throw new Error('not a tunnel');
  await response.run(new PassThrough());
  expect(during).toEqual(['ResponseStarted 101']);
  expect(stages()).toEqual(['ResponseStarted 101', 'ResponseComplete 101']);
  expect(events()[0].objectRef).toMatchObject({ resource: 'pods', name: 'p', subresource: 'exec' });
});

test('a request that cannot be recorded is refused before anything is done', async () => {
  const { auditor, registry } = start('- level: Metadata', false);
  let served = 0;
  const request = audit({ auditor }, requestOf('GET', URL_OF_S), async () => {
    served += 1;
    return answer(SECRET);
  });
  await expect(request).rejects.toMatchObject({ status: { code: 500, reason: 'InternalError' } });
  expect(served).toBe(0);
  expect(await registry.metrics()).toContain('apiserver_audit_requests_rejected_total 1');
});

test('a caller who could not be authenticated is recorded without what was tried', async () => {
  const { auditor, events } = start('- level: Metadata');
  const unknown = incomingOf('GET', URL_OF_S, { authorization: 'Bearer hunter2' });
  const refused = unauthorized();
  const rejected = auditAuthentication({ auditor }, unknown, () => Promise.reject(refused));
  await expect(rejected).rejects.toBe(refused);
  expect(events()).toMatchObject([
    {
      stage: 'ResponseStarted',
      user: {},
      responseStatus: { status: 'Failure', message: 'Unauthorized', reason: 'Unauthorized', code: 401 },
    },
  ]);
  expect(JSON.stringify(events())).not.toContain('hunter2');
});

test('the status of a request is the Status that it was answered with, also without objects', async () => {
  const { auditor, events } = start('- level: RequestResponse');
  const details = { name: 's', kind: 'secrets', uid: '1' };
  const deleted = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
  for (const pretty of [false, true])
    await audit({ auditor }, requestOf('DELETE', URL_OF_S), async () => answer(deleted, 'json', pretty));
  const expected = {
    responseStatus: { metadata: {}, status: 'Success', details, code: 200 },
    responseObject: deleted,
  };
  expect(events().filter(({ stage }) => stage === 'ResponseComplete')).toMatchObject([expected, expected]);
  const refused = notFound({ group: '', resource: 'pages' }, 'x');
  await expect(audit({ auditor }, requestOf('GET', '/metrics'), () => Promise.reject(refused))).rejects.toBe(
    refused,
  );
  expect(events().at(-1).responseObject).toEqual(refused.status);
});

test('a request at level None costs no trail and leaves no event', async () => {
  const { auditor, events, registry } = start('- {level: None, users: [alice]}\n- level: Metadata');
  const request = requestOf('GET', URL_OF_S);
  await audit({ auditor }, request, async () => answer(SECRET));
  expect(request.audit).toBeUndefined();
  expect(events()).toEqual([]);
  expect(await registry.metrics()).toContain('apiserver_audit_level_total{level="None"} 1');
});

test('verdicts are recorded in annotations', async () => {
  const { auditor, events } = start('- {level: Metadata, omitStages: [RequestReceived]}');
  const verdicts = [
    { decision: 'no-opinion', reason: 'none of yours' },
    { decision: 'no-opinion', reason: '', error: 'webhook is dead' },
    { decision: 'allow', reason: 'RBAC: yes', error: 'a role is missing' },
  ] as const;
  for (const verdict of verdicts) {
    const request = requestOf('GET', URL_OF_S);
    await audit({ auditor }, request, async () => {
      annotateVerdict(request, verdict);
      return answer({});
    });
  }
  const prefix = 'authorization.k8s.io/';
  expect(events().map(({ annotations }) => annotations)).toEqual([
    { [`${prefix}decision`]: 'forbid', [`${prefix}reason`]: 'none of yours' },
    { [`${prefix}reason`]: 'internal error' },
    { [`${prefix}decision`]: 'allow', [`${prefix}reason`]: 'RBAC: yes' },
  ]);
});

test.each([
  [{}, '10.1.1.1', ['10.1.1.1']],
  [{}, '::ffff:10.1.1.1', ['10.1.1.1']],
  [{ 'x-forwarded-for': '1.1.1.1, junk, 2001:DB8::1' }, '10.1.1.1', ['1.1.1.1', '2001:db8::1', '10.1.1.1']],
  [{ 'x-forwarded-for': '1.1.1.1', 'x-real-ip': '1.1.1.1' }, '10.1.1.1', ['1.1.1.1', '10.1.1.1']],
  [{ 'x-real-ip': '2.2.2.2' }, '2.2.2.2', ['2.2.2.2']],
  [{ 'x-forwarded-for': '10.1.1.1, 3.3.3.3' }, '10.1.1.1', ['10.1.1.1', '3.3.3.3', '10.1.1.1']],
])('%j from %s: sources are %j', (headers, sourceAddress, expected) => {
  expect(sourceAddresses({ headers, sourceAddress })).toEqual(expected);
});

test('the old format is one line a person can read', async () => {
  const { auditor, records } = start('- level: Metadata');
  const request = requestOf('GET', '/api/v1/namespaces/ns/pods', {
    'user-agent': 'curl "x"',
    'audit-id': 'id1',
  });
  await audit({ auditor }, request, async () => answer({}));
  const lines = records.map(({ event }) => formatLegacy(event));
  expect(lines[0]).toMatch(
    /^\S+Z AUDIT: id="id1" stage="RequestReceived" ip="10\.0\.0\.9" method="list" user="alice" /,
  );
  expect(lines[0]).toContain('response="<deferred>"');
  expect(lines[1]).toContain(
    'groups="\\"developers\\",\\"system:authenticated\\"" as="<self>" asgroups="<lookup>" user-agent="curl \\"x\\"" namespace="ns" uri="/api/v1/namespaces/ns/pods" response="200"',
  );
});

test('a request that took longer than half a second says what it waited for', async () => {
  const { auditor, events } = start('- level: Metadata');
  const slow = requestOf('GET', '/api/v1/namespaces/n/secrets/s');
  Object.assign(slow, { receivedAt: new Date('2026-11-21T08:00:00.000Z') });
  slow.waits.mutatingWebhooks = 600.5;
  slow.waits.storage = 12;
  await audit({ auditor }, slow, async () => answer(SECRET));
  const quick = requestOf('GET', '/api/v1/namespaces/n/secrets/s');
  Object.assign(quick, { receivedAt: new Date('2026-11-21T08:00:00.734Z') });
  quick.waits.storage = 12;
  await audit({ auditor }, quick, async () => answer(SECRET));
  expect(events().map(({ stage, annotations }) => [stage, annotations])).toEqual([
    ['RequestReceived', undefined],
    [
      'ResponseComplete',
      {
        'apiserver.latency.k8s.io/etcd': '12ms',
        'apiserver.latency.k8s.io/mutating-webhook': '600.5ms',
        'apiserver.latency.k8s.io/total': '1.234s',
      },
    ],
    ['RequestReceived', undefined],
    ['ResponseComplete', undefined],
  ]);
});

test('an annotation may belong to a level of its own', async () => {
  for (const level of ['Metadata', 'Request']) {
    const { auditor, events } = start(`- level: ${level}\n  omitStages: [RequestReceived]`);
    const request = requestOf('GET', '/api/v1/namespaces/n/secrets/s');
    await audit({ auditor }, request, async () => {
      request.audit?.annotate('always', 'a');
      request.audit?.annotate('patch', 'b', 'Request');
      return answer(SECRET);
    });
    expect(events()[0].annotations).toEqual({ always: 'a', ...(level === 'Request' ? { patch: 'b' } : {}) });
  }
});
