import { expect, test } from 'vitest';
import type { PolicyRule } from '../../src/authz/rbac/role-rules.ts';
import { aggregatedRules } from '../../src/controllers/role-aggregation.ts';

type AggregatedRole = Parameters<typeof aggregatedRules>[0];

const get = (resource: string): PolicyRule => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });
const part = (name: string, label: string, ...rules: PolicyRule[]): AggregatedRole => ({
  metadata: { name, labels: { [label]: 'true' } },
  rules,
});
const whole = (rules: PolicyRule[], ...labels: string[]): AggregatedRole => ({
  metadata: { name: 'whole', labels: { a: 'true' } },
  rules,
  aggregationRule: { clusterRoleSelectors: labels.map((label) => ({ matchLabels: { [label]: 'true' } })) },
});

test('the rules of the selected roles are gathered by selector and name, each once', () => {
  const all = [
    part('z', 'a', get('pods'), get('nodes')),
    part('y', 'b', get('secrets')),
    part('x', 'a', get('pods')),
  ];
  const role = whole([], 'b', 'a');
  expect(aggregatedRules(role, [...all, role])).toEqual([get('secrets'), get('pods'), get('nodes')]);
});

test('nothing changes when the role has the rules, and none of its own is kept', () => {
  const all = [part('x', 'a', get('pods'))];
  expect(aggregatedRules(whole([get('pods')], 'a'), all)).toBeUndefined();
  expect(aggregatedRules(whole([get('pods'), get('nodes')], 'a'), all)).toEqual([get('pods')]);
  expect(aggregatedRules(whole([get('pods')], 'none'), all)).toEqual([]);
});

test('a role without an aggregation rule is left alone', () => {
  expect(aggregatedRules(part('x', 'a'), [part('y', 'a', get('pods'))])).toBeUndefined();
});
