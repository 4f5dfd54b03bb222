import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { AuditMetrics, createLossReport } from '../../src/audit/audit-metrics.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { makeRecord } from './kit.ts';

test('every lost event is counted, and a flood of losses is a line a second with their number', async () => {
  const lines: string[] = [];
  const registry = new Registry();
  let now = 0;
  const report = createLossReport({
    logger: createLogger({ verbosity: 0, write: (line) => lines.push(line) }),
    metrics: new AuditMetrics(registry),
    now: () => now,
  });
  for (let at = 0; at < 100; at += 1) report('log', new Error('disk full'), [makeRecord(`id-${at}`)]);
  report('webhook', new Error('dead'), [makeRecord('a'), makeRecord('b')]);
  now = 1000;
  report('log', new Error('disk full'), [makeRecord('last')]);
  expect(lines).toHaveLength(3);
  expect(lines[0]).toContain('part="log" events=1 err="disk full" auditIDs=["id-0"]');
  expect(lines[1]).toContain('part="webhook" events=2');
  expect(lines[2]).toContain('part="log" events=100 err="disk full" auditIDs=["last"]');
  const metrics = await registry.metrics();
  expect(metrics).toContain('apiserver_audit_error_total{plugin="log"} 101');
  expect(metrics).toContain('apiserver_audit_error_total{plugin="webhook"} 2');
});
