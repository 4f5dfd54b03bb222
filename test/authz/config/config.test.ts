import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type Authorizer, NO_RULES, type Verdict } from '../../../src/authz/authorizer.ts';
import {
  buildChain,
  fromModes,
  parseAuthorizationConfig,
  ReloadingAuthorizer,
} from '../../../src/authz/config/authorization-config.ts';
import { allMatch } from '../../../src/authz/config/webhook-config.ts';
import { DecisionMetrics } from '../../../src/observability/access-metrics.ts';
import { Metrics } from '../../../src/observability/metrics.ts';
import { asks, user } from '../kit.ts';

const file = (...authorizers: string[]): string =>
  [
    'apiVersion: apiserver.config.k8s.io/v1beta1',
    'kind: AuthorizationConfiguration',
    'authorizers:',
    ...authorizers.map((authorizer) => `- ${authorizer}`),
  ].join('\n');
const HOOK =
  'timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: KubeConfigFile, kubeConfigFile: /a}';
const webhook = (name: string, fields = HOOK): string =>
  `{type: Webhook, name: ${name}, webhook: {${fields}}}`;
const RBAC = '{type: RBAC, name: rbac}';
const NODE = '{type: Node, name: node}';

describe('the configuration file', () => {
  test('names the authorizers in their order, webhooks with their defaults', () => {
    expect(parseAuthorizationConfig(file(NODE, webhook('mine'), RBAC))).toEqual([
      { type: 'Node', name: 'node' },
      {
        type: 'Webhook',
        name: 'mine',
        webhook: {
          authorizedTtlMs: 300_000,
          unauthorizedTtlMs: 30_000,
          timeoutMs: 3000,
          version: 'v1',
          onFailure: 'deny',
          kubeConfigFile: '/a',
          matchConditions: [],
        },
      },
      { type: 'RBAC', name: 'rbac' },
    ]);
  });

  const wrong: [string, string, string][] = [
    [
      'no authorizers',
      file(),
      'authorizers: Required value: at least one authorization mode must be defined',
    ],
    [
      'another kind',
      'kind: Pod',
      'kind: Unsupported value: "Pod": supported values: "AuthorizationConfiguration"',
    ],
    ['an unknown mode', file('{type: Magic, name: a}'), 'authorizers[0].type: Unsupported value: "Magic"'],
    ['a mode twice', file(RBAC, RBAC), 'authorizers[1].type: Duplicate value: "RBAC"'],
    ['a name twice', file(webhook('a'), webhook('a')), 'authorizers[1].name: Duplicate value: "a"'],
    ['a field twice', file('{type: RBAC, name: rbac, name: rbac}'), ': key "name" already set in map'],
    ['a name of its own', file('{type: RBAC, name: mine}'), 'expected name rbac for authorizer RBAC'],
    ['no name', file('{type: RBAC}'), 'authorizers[0].name: Required value'],
    [
      'a webhook without one',
      file('{type: Webhook, name: a}'),
      'authorizers[0].webhook: Required value: required when type=Webhook',
    ],
    [
      'a webhook for another',
      file('{type: RBAC, name: rbac, webhook: {}}'),
      'may only be specified when type=Webhook',
    ],
    [
      'an unknown field',
      file('{type: RBAC, name: rbac, weebhook: {}}'),
      'authorizers[0].weebhook: unknown field',
    ],
    [
      'a long timeout',
      file(webhook('a', HOOK.replace('3s', '31s'))),
      'webhook.timeout: Invalid value: "31s": must be > 0s and <= 30s',
    ],
    [
      'no failure policy',
      file(webhook('a', HOOK.replace('failurePolicy: Deny, ', ''))),
      'webhook.failurePolicy: Required value',
    ],
    [
      'a relative path',
      file(webhook('a', HOOK.replace('/a', 'a'))),
      'kubeConfigFile: Invalid value: "a": must be an absolute path',
    ],
    [
      'conditions without their version',
      file(webhook('a', `${HOOK}, matchConditions: [{expression: 'true'}]`)),
      'matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified',
    ],
    [
      'a condition twice',
      file(webhook('a', `${HOOK}, matchConditions: [{expression: 'true'}, {expression: 'true'}]`)),
      'webhook.matchConditions[1].expression: Duplicate value: "true"',
    ],
  ];
  test.each(wrong)('%s is refused', (_, text, message) => {
    expect(() => parseAuthorizationConfig(text)).toThrow(message);
  });
});

test('modes become a chain of that order, each once', () => {
  expect(fromModes(['Node', 'RBAC'], undefined)).toEqual([
    { type: 'Node', name: 'node' },
    { type: 'RBAC', name: 'rbac' },
  ]);
  expect(() => fromModes(['RBAC', 'RBAC'], undefined)).toThrow('more than once');
  expect(() => fromModes(['Rbac'], undefined)).toThrow('authorization-mode "Rbac" is not a valid mode');
  expect(() => fromModes(['Webhook'], undefined)).toThrow("Webhook's authorization config file not passed");
});

test('one false condition decides; without one, errors are reported', () => {
  const is = (answer: boolean) => ({ expression: String(answer), evaluate: () => answer });
  const broken = {
    expression: 'request.x',
    evaluate: () => {
      throw new Error('no such key: x');
    },
  };
  expect(allMatch([is(true), is(true)])({})).toBe(true);
  expect(allMatch([])({})).toBe(true);
  expect(allMatch([broken, is(false)])({})).toBe(false);
  expect(() => allMatch([is(true), broken])({})).toThrow(
    "cel evaluation error: expression 'request.x' resulted in error: no such key: x",
  );
});

describe('the chain of a file', () => {
  const answering = (decision: Verdict['decision'], reason: string): Authorizer => ({
    authorize: () => ({ decision, reason }),
    rules: () => NO_RULES,
  });
  const question = asks(user('ann'), 'get', 'pods');
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-authorization-'));
  const path = join(folder, 'config.yaml');
  const put = (text: string): void => writeFileSync(path, text);
  let errors: string[];
  const open = () =>
    new ReloadingAuthorizer({
      path,
      build: (configs) =>
        buildChain(configs, {
          rbac: answering('no-opinion', 'rbac'),
          webhook: (name) => answering('allow', name),
        }),
      onReload: () => errors.push('reloaded'),
      onError: (error) => errors.push(error instanceof Error ? error.message : String(error)),
    });

  beforeEach(() => {
    errors = [];
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test('counts the decisions of its authorizers', async () => {
    const metrics = new Metrics();
    const engines = { rbac: answering('allow', ''), webhook: () => answering('deny', '') };
    const authorizerOf = (mode: string): Authorizer =>
      buildChain(
        fromModes([mode], undefined),
        { ...engines, node: answering('no-opinion', '') },
        new DecisionMetrics(metrics),
      );
    await authorizerOf('Node').authorize(question);
    const rbac = authorizerOf('RBAC');
    await rbac.authorize(question);
    await rbac.authorize(asks(user('root', 'system:masters'), 'get', 'pods'));
    const lines = (await metrics.text()).split('\n');
    expect(lines.filter((line) => line.startsWith('apiserver_authorization_decisions_total{'))).toEqual([
      'apiserver_authorization_decisions_total{type="RBAC",name="rbac",decision="allowed"} 1',
    ]);
  });

  test('changes with the file', async () => {
    put(file(RBAC));
    const authorizer = open();
    expect(await authorizer.authorize(question)).toEqual({ decision: 'no-opinion', reason: 'rbac' });
    expect((await authorizer.authorize(asks(user('root', 'system:masters'), 'get', 'pods'))).decision).toBe(
      'allow',
    );
    put(file(webhook('mine'), RBAC));
    await authorizer.reload();
    await authorizer.reload();
    expect(await authorizer.authorize(question)).toEqual({ decision: 'allow', reason: 'mine' });
    expect(errors).toEqual(['reloaded']);
  });

  test('stays as it is when the file has become wrong', async () => {
    put(file(webhook('mine'), RBAC));
    const authorizer = open();
    for (const broken of ['{', file(webhook('mine')), file(RBAC, NODE)]) {
      put(broken);
      await authorizer.reload();
    }
    expect((await authorizer.authorize(question)).decision).toBe('allow');
    expect(errors).toEqual([
      expect.stringContaining('yaml'),
      'authorization configuration: missing required types: [RBAC]',
      'authorizer type Node is not allowed if it was not enabled at initial server startup',
    ]);
  });

  test('is not there when the file is wrong from the beginning', () => {
    put(file(NODE));
    expect(open).toThrow('not enabled');
  });

  test('is not looked at after the server has stopped', async () => {
    put(file(RBAC));
    const authorizer = open();
    const stop = new AbortController();
    const running = authorizer.run(stop.signal);
    stop.abort();
    put('{');
    await running;
    expect(errors).toEqual([]);
  });
});
