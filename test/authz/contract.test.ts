import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { createAbac } from '../../src/authz/abac.ts';
import {
  type AuthorizationAttributes,
  type Authorizer,
  allowMasters,
  alwaysAllow,
  alwaysDeny,
  createChain,
} from '../../src/authz/authorizer.ts';
import { ReloadingAuthorizer } from '../../src/authz/config/authorization-config.ts';
import { createNodeAuthorizer } from '../../src/authz/node-authorizer.ts';
import { NodeGraph } from '../../src/authz/node-graph.ts';
import { RbacAuthorizer } from '../../src/authz/rbac/rbac.ts';
import { WebhookAuthorizer } from '../../src/authz/webhook-authorizer.ts';
import { aborted } from '../../src/util/pause.ts';
import { cases } from '../kit/cases.ts';
import { asks, asksPath, entry, user } from './kit.ts';

/** What every authorizer promises. */

const folder = mkdtempSync(join(tmpdir(), 'authorizers-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ann = user('ann', 'devs');
const root = user('root', 'system:masters');
const node = user('system:node:n1', 'system:nodes');
const nobody = user('nobody');

function createRbac(): RbacAuthorizer {
  const rbac = new RbacAuthorizer();
  const fill = (resource: string, object: Parameters<typeof entry>[0]): void =>
    rbac.sources.find((source) => source.resource.resource === resource)?.index.replace([entry(object)]);
  fill('clusterroles', {
    metadata: { name: 'reader' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
  });
  fill('clusterrolebindings', {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
    subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'devs' }],
  });
  return rbac;
}

const createWebhook = (post: ConstructorParameters<typeof WebhookAuthorizer>[0]['post']): WebhookAuthorizer =>
  new WebhookAuthorizer({
    version: 'v1',
    authorizedTtlMs: 0,
    unauthorizedTtlMs: 0,
    timeoutMs: 1000,
    onFailure: 'no-opinion',
    post,
    pauseFor: async () => {},
  });

const webhook = createWebhook(async ({ spec }) => ({
  kind: 'SubjectAccessReview',
  status: { allowed: (spec as { user?: string }).user === 'ann' },
}));
const ABAC =
  '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"ann","resource":"pods","namespace":"*"}}';
const nodeRules = [{ verbs: ['get'], apiGroups: [''], resources: ['services'] }];

function createReloading(): ReloadingAuthorizer {
  const path = join(folder, 'config.yaml');
  const config = { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthorizationConfiguration' };
  writeFileSync(path, JSON.stringify({ ...config, authorizers: [{ type: 'RBAC', name: 'rbac' }] }));
  const fail = (error: unknown): void => {
    throw error;
  };
  return new ReloadingAuthorizer({ path, build: createRbac, onReload: () => {}, onError: fail });
}

interface Case {
  readonly name: string;
  readonly authorizer: Authorizer;
  /** A question that it answers with allow. */
  readonly allows: AuthorizationAttributes | undefined;
}

const getPods = asks(ann, 'get', 'pods', { namespace: 'shop', name: 'web' });
const CASES: readonly Case[] = [
  { name: 'AlwaysDeny', authorizer: alwaysDeny, allows: undefined },
  { name: 'system:masters', authorizer: allowMasters, allows: asks(root, 'delete', 'nodes') },
  { name: 'ABAC', authorizer: createAbac(ABAC, 'policy'), allows: getPods },
  { name: 'RBAC', authorizer: createRbac(), allows: getPods },
  {
    name: 'Node',
    authorizer: createNodeAuthorizer(new NodeGraph(), nodeRules, () => false),
    allows: asks(node, 'get', 'services', { namespace: 'shop', name: 'web' }),
  },
  { name: 'Webhook', authorizer: webhook, allows: getPods },
  { name: 'a chain', authorizer: createChain([alwaysDeny, createRbac(), webhook]), allows: getPods },
  { name: 'a chain without links', authorizer: createChain([]), allows: undefined },
  { name: 'a configuration file', authorizer: createReloading(), allows: getPods },
];

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', '*', 'pods', 'secrets', 'a/b', '..', '__proto__', 'constructor', 'system:node:', 'get'),
);
const target = fc.record({
  group: text,
  version: text,
  resource: text,
  namespace: text,
  name: text,
  subresource: text,
  subpath: text,
});
const stranger = fc.record({
  username: text.filter((name) => name !== 'ann' && !name.startsWith('system:node:')),
  uid: text,
  groups: fc.array(text),
  extra: fc.dictionary(text, fc.array(text)),
});
const questionOf = (
  who: fc.Arbitrary<AuthorizationAttributes['user']>,
): fc.Arbitrary<AuthorizationAttributes> =>
  fc.record({ user: who, verb: text, path: text, target: fc.option(target, { nil: undefined }) });

describe.each(CASES)('$name', ({ authorizer, allows }) => {
  test('it allows what it is to allow, and says the same when it is asked again', async () => {
    if (allows === undefined) return;
    for (let n = 0; n < 2; n += 1)
      expect(await authorizer.authorize(allows)).toMatchObject({ decision: 'allow' });
  });

  test('a stranger is allowed nothing, with any question, and no question throws', async () => {
    await fc.assert(
      fc.asyncProperty(questionOf(stranger), async (question) => {
        const before = structuredClone(question);
        const { decision, reason } = await authorizer.authorize(question);
        expect(['deny', 'no-opinion']).toContain(decision);
        expect(typeof reason).toBe('string');
        expect(question).toEqual(before);
      }),
      { seed: 13, numRuns: cases(300) },
    );
  });

  test('the rules of a stranger are none, or are said to be incomplete', () => {
    for (const namespace of [undefined, '', 'shop', '__proto__']) {
      const { resourceRules, nonResourceRules } = authorizer.rules(nobody, namespace);
      expect([resourceRules, nonResourceRules]).toEqual([[], []]);
    }
  });

  test('a list of rules that says it is complete has what is allowed', () => {
    if (allows === undefined || allows.user === root) return;
    const { incomplete, resourceRules } = authorizer.rules(allows.user, allows.target?.namespace ?? '');
    if (incomplete === true) return;
    const listed = resourceRules.some(
      ({ verbs, resources }) =>
        [allows.verb, '*'].some((verb) => verbs.includes(verb)) &&
        [allows.target?.resource ?? '', '*'].some((resource) => resources.includes(resource)),
    );
    expect(listed).toBe(true);
  });
});

test('AlwaysAllow allows everybody everything', async () => {
  await fc.assert(
    fc.asyncProperty(questionOf(stranger), async (question) => {
      expect(await alwaysAllow.authorize(question)).toMatchObject({ decision: 'allow' });
    }),
    { seed: 13, numRuns: cases(50) },
  );
});

describe('an authorizer that cannot answer', () => {
  const broken: Authorizer = createWebhook(() => Promise.reject(new Error('out of order')));
  const mute: Authorizer = createWebhook(async (_, signal) => {
    await aborted(signal);
    throw signal.reason;
  });
  const nonsense = createWebhook(async () => ({ status: { allowed: 'yes' } }));
  /** Nothing has been read yet. */
  const empty = new RbacAuthorizer();

  test.each([
    ['a webhook', broken],
    ['a webhook with a nonsensical answer', nonsense],
    ['a chain', createChain([broken, alwaysDeny])],
    ['RBAC without roles', empty],
    ['Node without relations', createNodeAuthorizer(new NodeGraph(), [], () => false)],
  ])('%s: it allows nothing', async (_, authorizer) => {
    for (const question of [
      getPods,
      asksPath(ann, 'get', '/healthz'),
      asks(node, 'get', 'secrets', { name: 's' }),
    ])
      expect((await authorizer.authorize(question)).decision).not.toBe('allow');
  });

  test('it says why, also through a chain', async () => {
    for (const authorizer of [broken, createChain([broken, alwaysDeny])])
      expect((await authorizer.authorize(getPods)).error).toContain('out of order');
  });

  test('it ends with the request that asked, and allows nothing', async () => {
    for (const authorizer of [mute, createChain([alwaysDeny, mute])]) {
      const gone = new AbortController();
      const answer = authorizer.authorize({ ...getPods, signal: gone.signal });
      gone.abort();
      expect((await answer).decision).toBe('no-opinion');
    }
  });
});

test('of a chain the first with an opinion decides, and those behind it are not asked', async () => {
  const never: Authorizer = {
    authorize: () => {
      throw new Error('asked');
    },
    rules: alwaysDeny.rules,
  };
  const deny: Authorizer = { ...alwaysDeny, authorize: () => ({ decision: 'deny', reason: 'no' }) };
  expect(await createChain([alwaysDeny, deny, never]).authorize(getPods)).toEqual({
    decision: 'deny',
    reason: 'no',
  });
  expect(await createChain([alwaysDeny, alwaysAllow, deny]).authorize(getPods)).toMatchObject({
    decision: 'allow',
  });
});
