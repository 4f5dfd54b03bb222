import { expect, test } from 'vitest';
import { type AuthorizationAttributes, type Authorizer, NO_RULES } from '../../src/authz/authorizer.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { ConstrainedImpersonation } from '../../src/pipeline/constrained-impersonation.ts';
import { impersonate } from '../../src/pipeline/impersonate.ts';
import type { AuditTrail, AuthenticatedRequest, UserInfo } from '../../src/request/api-request.ts';

const alice: UserInfo = { username: 'alice', uid: '', groups: ['system:authenticated'], extra: {} };
const agent: UserInfo = {
  ...{ username: 'system:serviceaccount:ns:agent', uid: '', groups: [] },
  extra: { 'authentication.kubernetes.io/node-name': ['n1'], 'authentication.kubernetes.io/pod-name': ['p'] },
};

const PODS = {
  ...{ group: '', version: 'v1', resource: 'pods', namespace: 'ns', name: '' },
  ...{ subresource: '', subpath: '' },
};

/** A list of pods by `user`. Of a request, only what the stage reads. */
function listOfPods(user: UserInfo, headers: readonly string[], query = ''): AuthenticatedRequest {
  const named = headers.filter((_, at) => at % 2 === 0);
  const parsed = Object.fromEntries(named.map((name, at) => [name.toLowerCase(), headers[at * 2 + 1]]));
  const audit: Partial<AuditTrail> = { impersonated: (_, constraint = '') => constraints.push(constraint) };
  return {
    ...{ headers: parsed, raw: { headers }, user, audit, verb: 'list', target: PODS },
    ...{ path: '/api/v1/namespaces/ns/pods', query: new URLSearchParams(query) },
  } as unknown as AuthenticatedRequest;
}

let constraints: string[] = [];

/** `allows`: what is answered to a question such as `alice impersonate:user-info users bob`. */
function world(allows: (asked: string) => boolean, asksWithSelectors = false) {
  constraints = [];
  const asked: string[] = [];
  const questions: AuthorizationAttributes[] = [];
  const authorizer: Authorizer = {
    authorize: (question) => {
      const {
        group = '',
        resource = '',
        subresource = '',
        namespace = '',
        name = '',
      } = question.target ?? {};
      const what = [resource + (group === '' ? '' : `.${group.split('.')[0]}`), subresource, namespace, name];
      const text = [question.verb, ...what].filter(Boolean).join(' ');
      asked.push(text);
      questions.push(question);
      return { decision: allows(text) ? 'allow' : 'no-opinion', reason: '' };
    },
    rules: () => NO_RULES,
  };
  const metrics = new Metrics();
  const constrained = new ConstrainedImpersonation({ authorizer, metrics, asksWithSelectors });
  const act = async (user: UserInfo, headers: readonly string[], query?: string) =>
    (await impersonate({ authorizer, constrained }, listOfPods(user, headers, query))).user;
  return { act, asked, questions, metrics };
}

const without =
  (...denied: string[]) =>
  (asked: string): boolean =>
    !denied.includes(asked.split(' ')[0] ?? '');

test('a user is taken on for a verb by two rights, and each group, uid and extra value is asked for', async () => {
  const { act, asked } = world(without('impersonate'));
  const headers = ['Impersonate-User', 'bob', 'Impersonate-Group', 'g', 'Impersonate-Uid', '7'];
  const bob = await act(alice, [...headers, 'Impersonate-Extra-acme.io%2fteam', 'x']);
  expect(asked).toEqual([
    'impersonate-on:user-info:list pods ns',
    'impersonate:user-info users.authentication bob',
    'impersonate:user-info uids.authentication 7',
    'impersonate:user-info groups.authentication g',
    'impersonate:user-info userextras.authentication acme.io/team x',
  ]);
  expect(bob).toEqual({
    ...{ username: 'bob', uid: '7', groups: ['g', 'system:authenticated'] },
    extra: { 'acme.io/team': ['x'] },
  });
  expect(constraints).toEqual(['impersonate:user-info']);
});

test('either right alone is not enough', async () => {
  const bob = ['Impersonate-User', 'bob'];
  await expect(world(without('impersonate', 'impersonate:user-info')).act(alice, bob)).rejects.toThrow(
    'users.authentication.k8s.io "bob" is forbidden: User "alice" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope',
  );
  await expect(
    world(without('impersonate', 'impersonate-on:user-info:list')).act(alice, bob),
  ).rejects.toThrow('pods is forbidden: User "alice" cannot impersonate-on:user-info:list resource "pods"');
});

test('the unconstrained right counts where no mode allows it, and is asked for first from then on', async () => {
  const { act, asked, metrics } = world((text) => text.startsWith('impersonate '));
  const bob = ['Impersonate-User', 'bob'];
  await act(alice, bob);
  expect(asked.splice(0)).toEqual(['impersonate-on:user-info:list pods ns', 'impersonate users bob']);
  await act(alice, bob);
  expect(asked).toEqual(['impersonate users bob']);
  expect(constraints).toEqual(['', '']);
  const text = await metrics.text();
  expect(text).toContain('apiserver_impersonation_attempts_total{mode="legacy",decision="allowed"} 2');
  expect(text).toContain(
    'apiserver_impersonation_authorization_attempts_total{mode="user-info",decision="denied"} 1',
  );
});

test('nodes and accounts have modes of their own, with fixed groups', async () => {
  const node = world(without('impersonate'));
  expect(await node.act(alice, ['Impersonate-User', 'system:node:n1'])).toMatchObject({
    groups: ['system:nodes', 'system:authenticated'],
  });
  expect(node.asked).toEqual([
    'impersonate-on:arbitrary-node:list pods ns',
    'impersonate:arbitrary-node nodes.authentication n1',
  ]);
  const account = world(without('impersonate'));
  const robot = await account.act(alice, ['Impersonate-User', 'system:serviceaccount:ns:robot']);
  expect(robot.groups).toContain('system:serviceaccounts:ns');
  expect(account.asked).toEqual([
    'impersonate-on:serviceaccount:list pods ns',
    'impersonate:serviceaccount serviceaccounts.authentication ns robot',
  ]);
  // With groups of its own a node is no node of these modes, and no other user either.
  const grouped = world(without('impersonate'));
  const headers = ['Impersonate-User', 'system:node:n1', 'Impersonate-Group', 'g'];
  await expect(grouped.act(alice, headers)).rejects.toThrow('cannot impersonate resource "users"');
});

test('an account is asked about the node it is bound to without the name of the node', async () => {
  const { act, asked, questions } = world(without('impersonate'));
  const node = await act(agent, ['Impersonate-User', 'system:node:n1']);
  expect(node.username).toBe('system:node:n1');
  expect(asked).toEqual([
    'impersonate-on:associated-node:list pods ns',
    'impersonate:associated-node nodes.authentication *',
  ]);
  const keys = { 'authentication.kubernetes.io/associated-node-keys': Object.keys(agent.extra).sort() };
  expect(questions.map(({ user }) => user.extra)).toEqual([keys, keys]);
  const other = world(without('impersonate'));
  await other.act(agent, ['Impersonate-User', 'system:node:n2']);
  expect(other.asked[0]).toBe('impersonate-on:arbitrary-node:list pods ns');
});

test('a constrained right never covers system:masters, an empty group, or an invalid extra key', async () => {
  const { act } = world(without('impersonate'));
  const refused = (...headers: string[]) =>
    expect(act(alice, ['Impersonate-User', 'bob', ...headers])).rejects;
  await refused('Impersonate-Group', 'system:masters').toThrow(
    'impersonating the system:masters group is not allowed',
  );
  await refused('Impersonate-Group', '').toThrow('impersonating the empty string group is not allowed');
  await refused('Impersonate-Extra-team', 'x').toThrow(
    'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "team": must be a domain-prefixed path',
  );
  await refused('Impersonate-Extra-acme.io%2fteam', '').toThrow(
    'impersonating the empty string value in extra is not allowed',
  );
});

test('many groups are asked for at once first, and one by one when not all are allowed', async () => {
  const names = ['a', 'b', 'c', 'd'];
  const headers = ['Impersonate-User', 'bob', ...names.flatMap((name) => ['Impersonate-Group', name])];
  const all = world(without('impersonate'));
  await all.act(alice, headers);
  expect(all.asked.slice(2)).toEqual(['impersonate:user-info groups.authentication *']);
  const some = world((text) => !text.endsWith('*'));
  await some.act(alice, headers);
  expect(some.asked.slice(2)).toHaveLength(5);
});

test('the selectors of the request are part of the question, and a missing user is a bad request', async () => {
  const { act, questions } = world(without('impersonate'), true);
  await act(alice, ['Impersonate-User', 'bob'], 'labelSelector=app%3Dweb');
  expect(questions[0]?.selectors?.labels).toMatchObject([{ key: 'app' }]);
  expect(questions[1]?.selectors).toBeUndefined();
  await expect(act(alice, ['Impersonate-Group', 'g'])).rejects.toMatchObject({ status: { code: 400 } });
});
