import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { builtInResources } from '../../src/resources/all.ts';

/** The columns and cells of tables as each version of Kubernetes prints them (Kubernetes: printers/internalversion). */

const NOW = Date.parse('2024-01-01T00:10:00Z');
const metadata = { name: 'a', creationTimestamp: '2024-01-01T00:05:00Z' };

function resourceOf(minor: Minor, plural: string): ResourceDefinition {
  const found = builtInResources(minor).find(({ resource }) => resource === plural);
  if (found === undefined) throw new Error(`1.${minor} has no ${plural}`);
  return found;
}

/** The row as text, beneath the names of the columns. */
function tableOf(minor: Minor, plural: string, object: JsonObject): string[] {
  const { columns, cells } = resourceOf(minor, plural);
  const row = cells({ apiVersion: '', kind: '', metadata, ...object }, NOW);
  const isShown = (_: unknown, at: number): boolean => columns[at]?.priority === 0;
  return [columns.map(({ name }) => name), row].map((line) => line.filter(isShown).join(' | '));
}

test.each<[string, string, JsonObject, Minor, string[], Minor, string[]]>([
  [
    'secrets of accounts are shown up to 1.34',
    'serviceaccounts',
    { secrets: [{ name: 's' }] },
    34,
    ['Name | Secrets | Age', 'a | 1 | 5m'],
    35,
    ['Name | Age', 'a | 5m'],
  ],
  [
    'the age of a quota is in the last place since 1.33',
    'resourcequotas',
    { status: { hard: { pods: '2', 'limits.cpu': '1' }, used: { pods: '1' } } },
    32,
    ['Name | Age | Request | Limit', 'a | 5m | pods: 1/2 | limits.cpu: 0/1'],
    33,
    ['Name | Request | Limit | Age', 'a | pods: 1/2 | limits.cpu: 0/1 | 5m'],
  ],
  [
    'the preemption policy of a priority is shown since 1.32',
    'priorityclasses',
    { value: 5, preemptionPolicy: 'Never' },
    31,
    ['Name | Value | Global-Default | Age', 'a | 5 | false | 5m'],
    32,
    ['Name | Value | Global-Default | Age | PreemptionPolicy', 'a | 5 | false | 5m | Never'],
  ],
  [
    'the default class of ingresses is marked since 1.36',
    'ingressclasses',
    {
      metadata: { ...metadata, annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
      spec: { controller: 'c' },
    },
    35,
    ['Name | Controller | Parameters | Age', 'a | c | <none> | 5m'],
    36,
    ['Name | Controller | Parameters | Age', 'a (default) | c | <none> | 5m'],
  ],
  [
    'a job that has met its criteria says so since 1.34',
    'jobs',
    { spec: { completions: 1 }, status: { conditions: [{ type: 'SuccessCriteriaMet', status: 'True' }] } },
    33,
    ['Name | Status | Completions | Duration | Age', 'a | Running | 0/1 |  | 5m'],
    34,
    ['Name | Status | Completions | Duration | Age', 'a | SuccessCriteriaMet | 0/1 |  | 5m'],
  ],
  [
    'a failed container is not hidden by one that ended well since 1.35',
    'pods',
    {
      spec: { containers: [{ name: 'x' }, { name: 'y' }] },
      status: {
        phase: 'Failed',
        containerStatuses: [
          { name: 'x', state: { terminated: { reason: 'Completed', exitCode: 0 } } },
          { name: 'y', state: { terminated: { reason: 'Error', exitCode: 1 } } },
        ],
      },
    },
    34,
    ['Name | Ready | Status | Restarts | Age', 'a | 0/2 | Completed | 0 | 5m'],
    35,
    ['Name | Ready | Status | Restarts | Age', 'a | 0/2 | Error | 0 | 5m'],
  ],
])('%s', (_, plural, object, before, old, since, now) => {
  expect(tableOf(before, plural, object)).toEqual(old);
  expect(tableOf(since, plural, object)).toEqual(now);
});

test('the kernel of a node is shown with its kind of machine since 1.36', () => {
  const kernelOf = (minor: Minor, nodeInfo: JsonObject): unknown => {
    const { columns, cells } = resourceOf(minor, 'nodes');
    const row = cells({ apiVersion: 'v1', kind: 'Node', metadata, status: { nodeInfo } }, NOW);
    return row[columns.findIndex(({ name }) => name === 'Kernel-Version')];
  };
  const both = { kernelVersion: '6.12.0', architecture: 'arm64' };
  expect([kernelOf(35, both), kernelOf(36, both)]).toEqual(['6.12.0', '6.12.0 (arm64)']);
  expect(kernelOf(36, { kernelVersion: '6.12.0', architecture: '' })).toBe('6.12.0');
});
