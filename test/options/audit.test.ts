import { expect, test } from 'vitest';
import { UsageError } from '../../src/options/flag.ts';
import { parseOptions } from '../../src/options/options.ts';

const auditOf = (...args: string[]) => parseOptions(args).audit;

test('by default the log blocks and the webhook batches', () => {
  const { policyFile, log, webhook } = auditOf();
  expect(policyFile).toBe('');
  expect(log).toMatchObject({
    path: '',
    format: 'json',
    mode: 'blocking',
    apiVersion: 'audit.cluster.io/v1',
    maxAgeDays: 0,
    maxBackups: 0,
    maxSizeMb: 0,
    compress: false,
    batch: { bufferSize: 10_000, maxBatchSize: 1, maxBatchWaitMs: 0, throttle: undefined },
    truncation: undefined,
  });
  expect(webhook).toMatchObject({
    configFile: '',
    mode: 'batch',
    apiVersion: 'audit.cluster.io/v1',
    initialBackoffMs: 10_000,
    batch: {
      bufferSize: 10_000,
      maxBatchSize: 400,
      maxBatchWaitMs: 30_000,
      throttle: { perSecond: 10, burst: 15 },
    },
    truncation: undefined,
  });
});

test('every flag of both back ends arrives', () => {
  for (const name of ['log', 'webhook'] as const) {
    const flags = {
      mode: 'batch',
      version: 'audit.k8s.io/v1',
      'batch-buffer-size': 7,
      'batch-max-size': 6,
      'batch-max-wait': '5s',
      'batch-throttle-enable': true,
      'batch-throttle-qps': 0.5,
      'batch-throttle-burst': 4,
      'truncate-enabled': true,
      'truncate-max-batch-size': 3000,
      'truncate-max-event-size': 2000,
    };
    const args = Object.entries(flags).map(([flag, value]) => `--audit-${name}-${flag}=${value}`);
    expect(auditOf(...args)[name]).toMatchObject({
      mode: 'batch',
      apiVersion: 'audit.k8s.io/v1',
      batch: { bufferSize: 7, maxBatchSize: 6, maxBatchWaitMs: 5000, throttle: { perSecond: 0.5, burst: 4 } },
      truncation: { maxEventBytes: 2000, maxBatchBytes: 3000 },
    });
  }
  const files = auditOf(
    '--audit-policy-file=/p',
    '--audit-log-path=-',
    '--audit-log-format=legacy',
    '--audit-log-maxage=1',
    '--audit-log-maxbackup=2',
    '--audit-log-maxsize=3',
    '--audit-log-compress',
    '--audit-webhook-config-file=/w',
    '--audit-webhook-initial-backoff=250ms',
  );
  expect(files).toMatchObject({
    policyFile: '/p',
    log: { path: '-', format: 'legacy', maxAgeDays: 1, maxBackups: 2, maxSizeMb: 3, compress: true },
    webhook: { configFile: '/w', initialBackoffMs: 250 },
  });
});

test.each([
  ['--audit-log-format=xml', '--audit-log-format: "xml" must be one of legacy, json'],
  ['--audit-webhook-mode=never', 'must be one of batch, blocking, blocking-strict'],
  ['--audit-log-version=audit.k8s.io/v1beta1', 'must be one of audit.cluster.io/v1, audit.k8s.io/v1'],
  ['--audit-log-maxage=-1', '--audit-log-maxage: -1 must not be negative'],
  ['--audit-log-maxbackup=-1', '--audit-log-maxbackup: -1 must not be negative'],
  ['--audit-log-maxsize=-1', '--audit-log-maxsize: -1 must not be negative'],
  ['--audit-webhook-batch-buffer-size=0', '--audit-webhook-batch-buffer-size: 0 must be greater than 0'],
  ['--audit-webhook-batch-max-size=0', 'must be greater than 0'],
  ['--audit-webhook-batch-throttle-qps=0', 'must be greater than 0'],
  ['--audit-webhook-batch-throttle-burst=0', 'must be greater than 0'],
  ['--audit-log-truncate-max-event-size=0', 'must be greater than 0'],
  ['--audit-log-truncate-max-batch-size=5', 'must not be less than --audit-log-truncate-max-event-size'],
])('%s is refused', (arg, message) => {
  expect(() => auditOf(arg)).toThrow(UsageError);
  expect(() => auditOf(arg)).toThrow(message);
});

test('a throttle without a rate is refused, but only where it would throttle', () => {
  const throttled = '--audit-log-batch-throttle-enable';
  expect(() => auditOf(throttled)).not.toThrow();
  expect(() => auditOf('--audit-log-mode=batch', throttled)).toThrow('--audit-log-batch-throttle-qps: 0');
});
