// @module-tag long
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startCluster } from '../../kit/cluster.ts';
import { startPrivatePostgres } from '../../postgres.ts';

test("the database's password stands in no process list, page, log or answer", async () => {
  await using postgres = await startPrivatePostgres();
  const [auditLog, policy] = [join(postgres.folder, 'audit.log'), join(postgres.folder, 'policy.yaml')];
  writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: RequestResponse\n');
  await using cluster = await startCluster(postgres.url, [
    '--authorization-mode=RBAC',
    `--audit-log-path=${auditLog}`,
    `--audit-policy-file=${policy}`,
    '-v=6',
  ]);
  const password = new URL(postgres.url).password;
  const shown = new Map<string, string>();
  const pid = readFileSync(join(cluster.folder, 'lock'), 'utf8').trim();
  shown.set('process list', readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  expect(shown.get('process list')).toContain('main.js');
  const pages = ['cmdline', 'goroutine', 'block', ''].map((name) => `/debug/pprof/${name}`);
  for (const page of [...pages, '/metrics', '/debug/flags/v', '/readyz?verbose'])
    shown.set(page, (await cluster.request('GET', page)).text);
  expect(shown.get('/debug/pprof/cmdline')).toContain(':…@127.0.0.1');
  await postgres.kill();
  const map = { metadata: { name: 'one' } };
  const [wrote, read] = await Promise.all([
    cluster.request('POST', '/api/v1/namespaces/default/configmaps?timeout=3s', map),
    cluster.request(
      'GET',
      '/api/v1/namespaces/default/configmaps?resourceVersion=1&resourceVersionMatch=Exact',
    ),
  ]);
  expect(wrote.code).toBeGreaterThanOrEqual(500);
  shown
    .set('write', wrote.text)
    .set('read', read.text)
    .set('unready', (await cluster.request('GET', '/readyz')).text);
  await postgres.start();
  await cluster.stop();
  shown
    .set('output', `${cluster.output.stdout}${cluster.output.stderr}`)
    .set('audit', readFileSync(auditLog, 'utf8'));
  expect(shown.get('output')).toContain(
    'the connection to PostgreSQL at 127.0.0.1 is plain because it is on loopback',
  );
  for (const [where, text] of shown) expect(text.includes(password), where).toBe(false);
});
