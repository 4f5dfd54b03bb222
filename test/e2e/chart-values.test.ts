// @module-tag long
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { helmPath, runTool } from '../kit/tools.ts';

/** Each value of the chart does something. */
const CHART = fileURLToPath(new URL('../../src/deploy/chart', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-chart-values-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Everything is on, so that every value has its effect. */
const BASE: Readonly<Record<string, unknown>> = {
  'database.servers': 'postgres://db/kube',
  'database.ownerSecret': 'owner',
  'database.serverSecret': 'server',
  'database.readerSecret': 'reader',
  'certificate.certManager.enabled': true,
  'certificate.certManager.issuer.name': 'internal',
  'serviceMonitor.enabled': true,
  'serviceMonitor.tokenSecret': 'scraper',
  'prometheusRule.enabled': true,
};

const CHANGES: Readonly<Record<string, unknown>> = {
  'image.repository': 'registry.example.com/pg-apiserver',
  'image.tag': '1.0',
  'image.pullPolicy': 'Always',
  imagePullSecrets: [{ name: 'registry' }],
  replicas: 3,
  'database.servers': 'postgres://a/kube,postgres://b/kube?sslmode=verify-full',
  'database.readServers': 'postgres://standby/kube',
  'database.ownerSecret': 'other',
  'database.serverSecret': 'other',
  'database.readerSecret': 'other',
  flags: ['--authorization-mode=RBAC'],
  mounts: [{ secret: 'audit', path: '/etc/audit' }],
  'certificate.secret': 'serving',
  'certificate.certManager.enabled': false,
  'certificate.certManager.issuer.kind': 'Issuer',
  'certificate.certManager.issuer.name': 'other',
  'certificate.names': ['kube.example.com'],
  'service.type': 'NodePort',
  'service.port': 6443,
  'service.annotations': { a: 'b' },
  'migration.deadline': 60,
  'resources.requests.cpu': '1',
  'resources.requests.memory': '1Gi',
  'resources.limits.memory': '4Gi',
  antiAffinity: 'required',
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  podAnnotations: { team: 'platform' },
  serviceAccountName: 'server',
  'networkPolicy.enabled': false,
  'networkPolicy.from': [{ namespaceSelector: {} }],
  'networkPolicy.egress': [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 5432 }] }],
  'serviceMonitor.enabled': false,
  'serviceMonitor.interval': '10s',
  'serviceMonitor.labels': { release: 'prometheus' },
  'serviceMonitor.tokenSecret': 'other',
  'serviceMonitor.caSecret': 'authority',
  'prometheusRule.enabled': false,
  'prometheusRule.labels': { release: 'prometheus' },
};

/** Paths of the values that are no maps with values of their own. */
function leavesOf(value: unknown, path = ''): string[] {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([key, inner]) =>
    leavesOf(inner, path === '' ? key : `${path}.${key}`),
  );
}

/** `{'a.b': 1}` → `{a: {b: 1}}` */
function nested(values: Readonly<Record<string, unknown>>): object {
  const all: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    let at = all;
    for (const key of keys) {
      at[key] ??= {};
      at = at[key] as Record<string, unknown>;
    }
    at[last] = value;
  }
  return all;
}

async function render(values: Readonly<Record<string, unknown>>): Promise<string> {
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(nested(values)));
  const args = ['template', 'kube', CHART, `--values=${file}`];
  const { code, stdout, stderr } = await runTool(helmPath(), args, { kubeconfig: '', home: folder });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

test('each value of the chart changes what is rendered', async () => {
  const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
  expect(Object.keys(CHANGES).sort()).toEqual(leavesOf(values).sort());
  const usual = await render(BASE);
  for (const [path, value] of Object.entries(CHANGES)) {
    // What verifies a scraped server has no Secret of a certificate then.
    const more = path === 'certificate.certManager.enabled' ? { 'serviceMonitor.caSecret': 'authority' } : {};
    expect(await render({ ...BASE, ...more, [path]: value }), path).not.toBe(usual);
  }
});
