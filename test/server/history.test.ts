import { expect, test } from 'vitest';
import { defaultGates } from '../../src/api/feature-gates.ts';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { GroupResource } from '../../src/api/names.ts';
import { alwaysAllow } from '../../src/authz/authorizer.ts';
import { toStoredJson } from '../../src/codec/stored-object.ts';
import { boundHistoryWork } from '../../src/history/large-work.ts';
import type { HistoryParts } from '../../src/history/parts.ts';
import { Registry } from '../../src/registry/registry.ts';
import type { AuthorizedResourceRequest } from '../../src/request/api-request.ts';
import { gatherRest } from '../../src/request/api-response.ts';
import { Waits } from '../../src/request/waits.ts';
import { createHistoryStores } from '../../src/server/history.ts';
import type { History, LoggedRevision, LogQuery } from '../../src/storage/history.ts';
import { type Revision, toRevision } from '../../src/storage/revision.ts';
import type { Store } from '../../src/storage/store.ts';
import { get, list } from '../../src/verbs/read.ts';
import type { VerbCall } from '../../src/verbs/verb-call.ts';
import { NO_BIRTHS } from '../history/no-births.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';

/** Two databases: events have one of their own, with revisions of their own. */

const MOMENT = '2026-01-31T12:00:00Z';
const registry = new Registry();
for (const definition of BUILT_IN_RESOURCES) registry.add(definition, () => true);
const types = loadTypes();

/** An event that was written again with each of these revisions. */
const rows: readonly LoggedRevision[] = [3, 4, 5, 6].map((revision, at) => ({
  key: { group: '', resource: 'events', namespace: 'd', name: 'e' },
  revision: toRevision(revision),
  uid: 'u',
  verb: at === 0 ? 'create' : 'update',
  previous: at === 0 ? undefined : toRevision(revision - 1),
  json: toStoredJson({ kind: 'Event', apiVersion: 'v1', metadata: { name: 'e' }, message: `m${revision}` }),
  previousJson: undefined,
  committedAt: new Date(0),
  at: '2026-01-31T11:00:00.000000Z',
  attribution: { username: 'ann', userAgent: '', sourceAddress: '', requestId: '', fieldManager: '' },
}));

const logOfEvents: History = {
  revisionAt: async () => toRevision(5),
  newest: async () => toRevision(6),
  begin: async () => ({ revision: toRevision(2), at: undefined }),
  rows: async ({ upTo = toRevision(6), revisions }: LogQuery) => ({
    rows: rows
      .filter(({ revision }) => revision <= upTo && revisions?.includes(revision) !== false)
      .toReversed(),
    next: undefined,
  }),
};

/** Its history begins after that moment. */
const otherLog: History = {
  ...logOfEvents,
  revisionAt: async () => undefined,
  newest: async () => toRevision(900),
  begin: async () => ({ revision: toRevision(800), at: new Date('2026-02-01T00:00:00Z') }),
};

const historyOf = ({ resource }: GroupResource): History => (resource === 'events' ? logOfEvents : otherLog);

function callOf(resource: string, name: string, query: Record<string, string>): VerbCall {
  const parts: HistoryParts = {
    registry,
    types,
    authorizer: alwaysAllow,
    store: {} as Store,
    births: NO_BIRTHS,
    causesAmong: async () => new Map<Revision, Revision>(),
    historyOf,
    progressOf: () => ({ applied: toRevision(0), follow: () => () => {} }),
    elsewhere: [{ group: '', resource: 'events' }],
  };
  const context = {
    types,
    historyOf,
    births: NO_BIRTHS,
    authorizer: alwaysAllow,
    virtualStores: createHistoryStores(parts, boundHistoryWork().reads),
    now: () => new Date(),
    isFeatureOn: defaultGates,
  } as Partial<VerbCall['context']> as VerbCall['context'];
  const served = registry.find('history.cluster.io', 'v1alpha1', resource);
  if (served === undefined) throw new Error(`${resource} is not served`);
  const target = { group: 'history.cluster.io', version: 'v1alpha1', resource, namespace: '', name };
  const request = {
    headers: {},
    query: new URLSearchParams(query),
    aborted: false,
    dialect: undefined,
    waits: new Waits(),
    target: { ...target, subresource: '', subpath: '' },
  } as unknown as AuthorizedResourceRequest;
  return { context, request, served };
}

async function answerOf(answer: ReturnType<typeof get>): Promise<{ readonly [field: string]: unknown }> {
  const response = await answer;
  if (response.kind !== 'bytes') throw new Error(`the answer is of kind ${response.kind}`);
  return JSON.parse(Buffer.concat(gatherRest(response).chunks).toString());
}

const OF_EVENTS = { fieldSelector: 'object.resource=events' };

test('asOf of a blame is looked up in the log of the object', async () => {
  const blame = await answerOf(get(callOf('blames', 'events:d:e', { asOf: MOMENT })));
  expect(blame.revision).toBe('5');
  await expect(get(callOf('blames', 'configmaps:d:m', { asOf: MOMENT }))).rejects.toThrow(
    'asOf: history is kept from revision 800',
  );
});

test('asOf of revisions is looked up in the log of the selected resource', async () => {
  const { items } = await answerOf(list(callOf('revisions', '', { ...OF_EVENTS, asOf: MOMENT })));
  expect((items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).toEqual([
    '5',
    '4',
    '3',
  ]);
  const one = await answerOf(get(callOf('revisions', '4', { ...OF_EVENTS, asOf: MOMENT })));
  expect(one.metadata).toMatchObject({ name: '4' });
  await expect(get(callOf('revisions', '6', { ...OF_EVENTS, asOf: MOMENT }))).rejects.toThrow('not found');
  await expect(get(callOf('revisions', '6', { ...OF_EVENTS, asOf: '7' }))).rejects.toThrow(
    'Too large resource version: 7, current: 6',
  );
});

test('timelines have no asOf', async () => {
  await expect(get(callOf('timelines', 'events:d:e', { asOf: MOMENT }))).rejects.toThrow(
    `asOf: Invalid value: "${MOMENT}"`,
  );
});
