import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { loadTypes } from '../../../src/api/idl/types.ts';
import { forbidden } from '../../../src/api/status.ts';
import type { AuditRecord } from '../../../src/audit/audit-event.ts';
import { AuditMetrics } from '../../../src/audit/audit-metrics.ts';
import { parsePolicy } from '../../../src/audit/audit-policy.ts';
import { Auditor } from '../../../src/audit/auditor.ts';
import type { PastObject } from '../../../src/history/restore/past-objects.ts';
import { RestoreAudit } from '../../../src/history/restore/write-audit.ts';
import type { AuthenticatedRequest } from '../../../src/request/api-request.ts';
import { secrets } from '../../../src/resources/core/secret.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import { ALICE, Losses } from '../../audit/kit.ts';

/** What a restore writes is recorded as if its caller had written it by requests of its own. */
const types = loadTypes();
const BOB = { ...ALICE, username: 'bob' };

const KEY = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'key', namespace: 'ns' } };
const THEN: PastObject = {
  ...{ definition: secrets, namespace: 'ns', name: 'key', uid: 'u', ownerUids: [], sizeBytes: 1 },
  revision: toRevision(7),
  parse: () => structuredClone(KEY),
};

const request: Partial<AuthenticatedRequest> = {
  ...{ id: 'of-the-restore', user: BOB, impersonator: ALICE, path: '/restores', userAgent: 'kubectl' },
  ...{ headers: {}, sourceAddress: '10.0.0.9', authenticationNotes: { 'a.example/method': 'token' } },
  raw: { url: '/restores?dryRun=All' } as AuthenticatedRequest['raw'],
};

function start(rules: string, stored = true) {
  const records: AuditRecord[] = [];
  const process = (more: readonly AuditRecord[]): boolean => {
    records.push(...more);
    return stored;
  };
  const auditor = new Auditor({
    policy: parsePolicy(`apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n${rules}`),
    ...{ sink: { process, close: async () => {} }, types },
    ...{ metrics: new AuditMetrics(new Registry()), report: new Losses().report, now: () => new Date() },
  });
  const audit = new RestoreAudit(auditor, request as AuthenticatedRequest, () => new Date());
  return { audit: audit.of(THEN), events: () => records.map((one) => JSON.parse(one.toJson('v1'))) };
}

const SECRETS = '[{group: "", resources: [secrets]}]';

test('the event is that of the write: its verb, its object, who asked and in whose name, and which restore it was', async () => {
  const { audit, events } = start(
    `- {level: Metadata, users: [alice], verbs: [update], resources: [{group: "", resources: [secrets], resourceNames: [key]}]}`,
  );
  await audit.attempt('update');
  audit.verdict({ decision: 'allow', reason: 'because' });
  audit.asked({ ...KEY, metadata: { ...KEY.metadata, uid: 'live', resourceVersion: '8' } });
  audit.annotate('plugin.example/said', 'yes');
  await audit.written(KEY, 9n);
  const [received, complete] = events();
  expect(received).toMatchObject({ stage: 'RequestReceived', verb: 'update', user: { username: 'alice' } });
  expect(complete).toEqual({
    ...{ kind: 'Event', apiVersion: 'v1', level: 'Metadata', stage: 'ResponseComplete', verb: 'update' },
    ...{ auditID: received.auditID, requestURI: '/restores?dryRun=All', userAgent: 'kubectl' },
    ...{ user: { ...ALICE, extra: undefined }, sourceIPs: ['10.0.0.9'] },
    impersonatedUser: { ...BOB, extra: undefined },
    objectRef: {
      ...{ resource: 'secrets', namespace: 'ns', name: 'key', apiVersion: 'v1' },
      ...{ uid: 'live', resourceVersion: '8' },
    },
    responseStatus: { metadata: {}, code: 200 },
    requestReceivedTimestamp: received.requestReceivedTimestamp,
    stageTimestamp: expect.any(String),
    annotations: {
      'a.example/method': 'token',
      'history.cluster.io/restore': 'of-the-restore',
      'history.cluster.io/restored-revision': '7',
      'authorization.k8s.io/decision': 'allow',
      'authorization.k8s.io/reason': 'because',
      'plugin.example/said': 'yes',
      'history.cluster.io/revision': '9',
    },
  });
  expect(received.auditID).not.toBe('of-the-restore');
});

test('bodies are recorded at the levels that ask for them; nothing is where no rule wants it', async () => {
  const whole = start(`- {level: RequestResponse, omitStages: [RequestReceived], resources: ${SECRETS}}`);
  await whole.audit.attempt('create');
  whole.audit.asked(KEY);
  await whole.audit.written({ ...KEY, metadata: { ...KEY.metadata, uid: 'new' } }, 9n);
  expect(whole.events()).toMatchObject([
    { requestObject: KEY, responseObject: { metadata: { uid: 'new' } }, responseStatus: { code: 201 } },
  ]);
  const other = start('- {level: RequestResponse, resources: [{group: "history.cluster.io"}]}');
  await other.audit.attempt('create');
  await other.audit.written(KEY, 9n);
  expect(other.events()).toEqual([]);
});

test('a write that became the other one, because the object came or went meanwhile, is two', async () => {
  const { audit, events } = start(
    `- {level: Metadata, omitStages: [RequestReceived], resources: ${SECRETS}}`,
  );
  for (const verb of ['update', 'update', 'create'] as const) await audit.attempt(verb);
  await audit.failed(forbidden(secrets, 'key', 'no'));
  const [updated, created] = events();
  expect(updated).toMatchObject({ verb: 'update', responseStatus: { code: 409 } });
  expect(created).toMatchObject({ verb: 'create', responseStatus: { code: 403, reason: 'Forbidden' } });
  expect(created.auditID).not.toBe(updated.auditID);
});

test('what must be recorded and cannot be is not written; what is not attempted is no event', async () => {
  const { audit, events } = start('- level: Metadata', false);
  await audit.failed(new Error('before it was attempted'));
  expect(events()).toEqual([]);
  await expect(audit.attempt('create')).rejects.toMatchObject({
    status: { code: 500, message: expect.stringContaining('failed to store audit event') },
  });
});
