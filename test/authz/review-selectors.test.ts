import { describe, expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { ALLOW, type AuthorizationAttributes, NO_RULES } from '../../src/authz/authorizer.ts';
import { createNodeAuthorizer } from '../../src/authz/node-authorizer.ts';
import { NodeGraph } from '../../src/authz/node-graph.ts';
import { reviewedSelectors, validateSelectors, withSelectors } from '../../src/authz/review-selectors.ts';
import { toReviewSpec } from '../../src/authz/webhook-authorizer.ts';
import { problemsOf } from '../../src/object/field-path.ts';
import { AccessMetrics } from '../../src/observability/access-metrics.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { authorize } from '../../src/pipeline/access.ts';
import type { AuthenticatedRequest, AuthorizedResourceRequest } from '../../src/request/api-request.ts';
import { createReviews } from '../../src/verbs/review-handlers.ts';
import { asks, entry, user } from './kit.ts';

const NODE = user('system:node:n1', 'system:nodes');

const request = (verb: string, query: string, path = '/api/v1/pods'): AuthorizationAttributes =>
  withSelectors({
    ...asks(NODE, verb, 'pods'),
    path,
    query: new URLSearchParams(query),
    signal: new AbortController().signal,
  });

const ON_NODE = 'fieldSelector=spec.nodeName%3Dn1';

describe('what a request selects', () => {
  test('is known for lists, watches and deletes of collections', () => {
    for (const verb of ['list', 'watch', 'deletecollection'])
      expect(request(verb, `${ON_NODE}&labelSelector=app`).selectors).toEqual({
        fields: [{ field: 'spec.nodeName', negated: false, value: 'n1' }],
        labels: [{ key: 'app', operator: 'Exists', values: [] }],
        problems: [],
      });
    expect(request('get', ON_NODE).selectors).toBeUndefined();
    expect(request('list', '').selectors).toBeUndefined();
    expect(request('watch', ON_NODE, '/api/v1/watch/pods').selectors).toBeUndefined();
  });

  test('reaches authorizers with the feature alone', async () => {
    const asked: AuthorizationAttributes[] = [];
    const authorizer = {
      authorize: (attributes: AuthorizationAttributes) => {
        asked.push(attributes);
        return ALLOW;
      },
      rules: () => NO_RULES,
    };
    const sent = {
      ...asks(NODE, 'list', 'pods'),
      path: '/api/v1/pods',
      query: new URLSearchParams(ON_NODE),
    } as unknown as AuthenticatedRequest;
    const accessMetrics = new AccessMetrics(new Metrics());
    for (const asksWithSelectors of [true, false])
      await authorize({ authorizer, asksWithSelectors, accessMetrics }, sent);
    expect(asked.map(({ selectors }) => selectors?.fields.length)).toEqual([1, undefined]);
  });

  test('makes a question of a webhook, but for what its form cannot say', () => {
    const selected = request('list', `${ON_NODE},a!%3Db&labelSelector=a,!b,c in (x,y),d>1`);
    expect(toReviewSpec(selected).resourceAttributes).toMatchObject({
      verb: 'list',
      fieldSelector: {
        requirements: [
          { key: 'spec.nodeName', operator: 'In', values: ['n1'] },
          { key: 'a', operator: 'NotIn', values: ['b'] },
        ],
      },
      labelSelector: {
        requirements: [
          { key: 'a', operator: 'Exists' },
          { key: 'b', operator: 'DoesNotExist' },
          { key: 'c', operator: 'In', values: ['x', 'y'] },
        ],
      },
    });
    expect(toReviewSpec(request('list', 'labelSelector=d>1')).resourceAttributes).not.toHaveProperty(
      'labelSelector',
    );
  });

  test('asks for more where it cannot be read', () => {
    expect(request('list', 'fieldSelector=no').selectors).toEqual({
      fields: [],
      labels: [],
      problems: ['spec.resourceAttributes.fieldSelector ignored due to parse error'],
    });
  });
});

describe('the selectors of a review', () => {
  const problems = (review: Parameters<typeof validateSelectors>[1]): string[] =>
    problemsOf((at) => validateSelectors(at, review)).map(({ field, message }) => `${field}: ${message}`);

  test('are a text or requirements, and are complete', () => {
    const requirements = [{ key: 'a', operator: 'In', values: ['b'] }];
    expect(problems({ fieldSelector: { requirements }, labelSelector: { rawSelector: 'a=b' } })).toEqual([]);
    expect(problems({ fieldSelector: { rawSelector: 'a=b', requirements }, labelSelector: {} })).toEqual([
      'fieldSelector.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements',
      'labelSelector.requirements: Required value: when labelSelector is specified, requirements or rawSelector is required',
    ]);
    const wrong = [
      { key: '', operator: 'In' },
      { key: 'a', operator: 'Exists', values: ['b'] },
      { key: 'a', operator: 'Newer' },
    ];
    expect(problems({ fieldSelector: { requirements: wrong } })).toEqual([
      'fieldSelector.requirements[0].key: Required value: must be specified',
      "fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "fieldSelector.requirements[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ]);
  });

  test('leave out what this server does not understand, and say so', () => {
    const requirements = [
      { key: 'a', operator: 'In', values: ['b'] },
      { key: 'a', operator: 'In', values: ['b', 'c'] },
    ];
    expect(reviewedSelectors({ fieldSelector: { requirements } })).toEqual({
      fields: [{ field: 'a', negated: false, value: 'b' }],
      labels: [],
      problems: ['spec.resourceAttributes.fieldSelector partially ignored due to parse error'],
    });
    const newer = [{ key: 'a', operator: 'Newer' }];
    expect(reviewedSelectors({ labelSelector: { requirements: newer } })?.problems).toEqual([
      'spec.resourceAttributes.labelSelector ignored due to parse error',
    ]);
  });

  /** What a review answers, and what it asks authorizers. */
  async function reviewed(isOn: boolean, selector: object) {
    let asked: AuthorizationAttributes | undefined;
    const reviews = createReviews({
      authorizer: {
        authorize: (attributes) => {
          asked = attributes;
          return { decision: 'allow', reason: '' };
        },
        rules: () => ({ resourceRules: [], nonResourceRules: [] }),
      },
      authenticator: { authenticate: async () => undefined },
      apiAudiences: [],
      isFeatureOn: () => isOn,
      now: () => new Date(0),
    });
    const answer = new Map(reviews).get('authorization.k8s.io/subjectaccessreviews');
    const json = await answer?.(review(selector), {} as AuthorizedResourceRequest);
    return { asked, answer: json as JsonObject & { spec: JsonObject; status: JsonObject } };
  }

  const review = (selector: object): ApiObject => ({
    kind: 'SubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    spec: { user: 'u', resourceAttributes: { verb: 'list', resource: 'pods', ...selector } },
  });

  test('reach authorizers with the feature, and are dropped without it', async () => {
    const selector = { fieldSelector: { rawSelector: 'spec.nodeName=n1' } };
    const on = await reviewed(true, selector);
    expect(on.asked?.selectors?.fields).toEqual([{ field: 'spec.nodeName', negated: false, value: 'n1' }]);
    expect(on.answer.spec.resourceAttributes).toMatchObject(selector);
    const off = await reviewed(false, selector);
    expect(off.asked?.selectors).toBeUndefined();
    expect(off.answer.spec.resourceAttributes).not.toHaveProperty('fieldSelector');
  });

  test('that cannot be read are named in the answer, and wrong ones are refused', async () => {
    const { answer } = await reviewed(true, { labelSelector: { rawSelector: 'a in' } });
    expect(answer.status.evaluationError).toBe(
      'spec.resourceAttributes.labelSelector ignored due to parse error',
    );
    await expect(reviewed(true, { labelSelector: {} })).rejects.toThrow(
      'spec.resourceAttributes.labelSelector.requirements: Required value',
    );
  });
});

describe('a node, with AuthorizeNodeWithSelectors', () => {
  const graph = new NodeGraph();
  for (const { resource, index } of graph.sources)
    if (resource.resource === 'pods')
      index.replace([
        entry({
          metadata: { name: 'mine', namespace: 'shop', uid: '1' },
          spec: { nodeName: 'n1' },
        }),
      ]);
  const node = createNodeAuthorizer(graph, [], (gate) => gate === 'AuthorizeNodeWithSelectors');
  const may = (attributes: AuthorizationAttributes): boolean | string => {
    const verdict = node.authorize(attributes);
    if (verdict instanceof Promise) throw new Error('it answers at once');
    return verdict.decision === 'allow' || verdict.reason;
  };

  test('lists its own pods, and reads them one by one', () => {
    expect(may(request('list', ON_NODE))).toBe(true);
    expect(may(request('watch', ON_NODE))).toBe(true);
    const why = 'can only list/watch pods with spec.nodeName field selector';
    expect(may(request('list', ''))).toBe(why);
    expect(may(request('list', 'fieldSelector=spec.nodeName%3Dn2'))).toBe(why);
    expect(may(request('list', 'fieldSelector=spec.nodeName!%3Dn1'))).toBe(why);
    expect(may(asks(NODE, 'get', 'pods', { namespace: 'shop', name: 'mine' }))).toBe(true);
    expect(may(asks(NODE, 'watch', 'pods', { namespace: 'shop', name: 'mine' }))).toBe(true);
    expect(may(asks(NODE, 'watch', 'pods', { namespace: 'shop', name: 'other' }))).toMatch(/no relationship/);
    expect(may(asks(NODE, 'get', 'pods', { namespace: 'shop', name: 'other' }))).toMatch(/no relationship/);
    expect(may(asks(NODE, 'watch', 'pods', { namespace: 'shop', name: 'mine' }))).toBe(true);
    expect(may(asks(NODE, 'list', 'pods', { namespace: 'shop', name: 'other' }))).toMatch(/no relationship/);
    expect(may(asks(NODE, 'create', 'pods', { namespace: 'shop' }))).toBe(true);
  });

  test('reads its own Node alone', () => {
    expect(may(asks(NODE, 'get', 'nodes', { name: 'n1' }))).toBe(true);
    expect(may(asks(NODE, 'get', 'nodes', { name: 'n2' }))).toBe(
      "node 'n1' cannot read 'n2', only its own Node object",
    );
    expect(may(asks(NODE, 'list', 'nodes'))).toBe(
      "node 'n1' cannot read all nodes, only its own Node object",
    );
    expect(may(asks(NODE, 'create', 'nodes'))).toBe(true);
    expect(may(asks(NODE, 'patch', 'nodes/status', { name: 'n1' }))).toBe(true);
    expect(may(asks(NODE, 'delete', 'nodes', { name: 'n1' }))).toBe('');
  });

  test('without the feature, rules for nodes that allow a list allow it', () => {
    const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }];
    const plain = createNodeAuthorizer(graph, rules, () => false);
    expect(plain.authorize(request('list', ''))).toMatchObject({ decision: 'allow' });
  });
});
