// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../kit/cluster.ts';
import { type SharedCluster, shareCluster } from '../kit/shared-cluster.ts';

let shared: SharedCluster;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

async function ok(args: string, input?: string): Promise<string> {
  const result = await cluster.kubectl(args, input);
  expect(result, `kubectl ${args}`).toMatchObject({ code: 0 });
  return result.stdout;
}

/** What kubectl says when it is refused. */
async function refused(args: string, input?: string): Promise<string> {
  const result = await cluster.kubectl(args, input);
  expect(result.code, `kubectl ${args}`).not.toBe(0);
  return result.stderr;
}

const generation = async (): Promise<string> => ok('get deployment web -o jsonpath={.metadata.generation}');

test('the generation of a deployment rises with what is wanted, not with its status', async () => {
  await ok('create deployment web --image=web:1');
  expect(await generation()).toBe('1');
  await ok('annotate deployment web team=a');
  expect(await generation()).toBe('2');
  await ok('scale deployment web --replicas=3');
  expect(await generation()).toBe('3');
  await ok('label deployment web tier=front');
  expect(await generation()).toBe('3');
  const status = JSON.stringify({
    status: { replicas: 3, readyReplicas: 2 },
    metadata: { labels: { tier: 'back' } },
  });
  await ok(`patch deployment web --subresource=status --type=merge -p ${status}`);
  expect(await generation()).toBe('3');
  expect(await ok('get deployment web --show-labels --no-headers')).toMatch(/web\s+2\/3\s.*tier=front/);
});

test('one error lists all mistakes, each with its path', async () => {
  const scale = { spec: { replicas: -1 } };
  const path = '/apis/apps/v1/namespaces/default/deployments/web/scale';
  const { code, json } = await cluster.request('PATCH', path, scale, {
    'content-type': 'application/merge-patch+json',
  });
  expect(code).toBe(422);
  expect(json.details.causes).toEqual([
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: -1: must be greater than or equal to 0',
      field: 'spec.replicas',
    },
  ]);
  const status = JSON.stringify({ status: { readyReplicas: 9 } });
  expect(await refused(`patch deployment web --subresource=status --type=merge -p ${status}`)).toContain(
    'status.readyReplicas: Invalid value: 9: cannot be greater than status.replicas',
  );
  const selector = JSON.stringify({ spec: { selector: { matchLabels: { app: 'x' } } } });
  const refusal = await refused(`patch deployment web --type=merge -p ${selector}`);
  expect(refusal).toContain('`selector` does not match template `labels`');
  expect(refusal).toContain('field is immutable');
});

test('jobs and cron jobs are made and shown', async () => {
  await ok('create job once --image=work:1 -- run');
  const job = JSON.parse(await ok('get job once -o json'));
  expect(job.spec.selector.matchLabels).toEqual({
    'batch.kubernetes.io/controller-uid': job.metadata.uid,
  });
  expect(job.metadata.labels['job-name']).toBe('once');
  expect(await ok('get jobs --no-headers')).toMatch(/^once\s+Running\s+0\/1\s+\d+s\n$/);
  expect(await ok('get jobs --field-selector=status.successful=0 -o name')).toBe('job.batch/once\n');

  expect(await refused('create cronjob often --image=work:1 --schedule=often')).toContain(
    'expected exactly 5 fields, found 1: [often]',
  );
  await ok('create cronjob daily --image=work:1 --schedule=@daily');
  expect(await ok('get cronjobs --no-headers')).toMatch(
    /^daily\s+@daily\s+<none>\s+False\s+0\s+<none>\s+\d+s\n$/,
  );
  await ok('create job from-cron --from=cronjob/daily');
});

test('autoscalers and disruption budgets are made and shown', async () => {
  await ok('autoscale deployment web --min=2 --max=5 --cpu-percent=50');
  expect(await ok('get hpa --no-headers')).toMatch(
    /^web\s+Deployment\/web\s+cpu: <unknown>\/50%\s+2\s+5\s+0\s/,
  );
  expect(
    await ok(
      'get horizontalpodautoscalers.v1.autoscaling web -o jsonpath={.spec.targetCPUUtilizationPercentage}',
    ),
  ).toBe('50');
  await ok('create poddisruptionbudget web --selector=app=web --min-available=1');
  expect(await ok('get pdb --no-headers')).toMatch(/^web\s+1\s+N\/A\s+0\s+\d+s\n$/);
});
