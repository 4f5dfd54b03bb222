import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { ConfigMetrics } from '../../src/server/config-metrics.ts';

const hash = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

async function linesIn(emulated: Minor): Promise<string[]> {
  const metrics = new Metrics();
  const config = new ConfigMetrics({
    ...{ metrics, emulated, what: 'authentication', server: 'one' },
    now: () => new Date('2030-01-01T00:00:00.500Z'),
  });
  config.loaded('first');
  config.failed();
  config.reloaded('second');
  config.reloaded('third');
  return (await metrics.text()).split('\n').filter((line) => /^apiserver_authentication_config/.test(line));
}

test('readings of a configuration are counted, and since 1.34 the hash of what is in effect is shown', async () => {
  const prefix = 'apiserver_authentication_config_controller';
  const id = `apiserver_id_hash="${hash('one')}"`;
  const counted = [
    `${prefix}_automatic_reload_last_timestamp_seconds{status="failure",${id}} 1.8934560005e+09`,
    `${prefix}_automatic_reload_last_timestamp_seconds{status="success",${id}} 1.8934560005e+09`,
    `${prefix}_automatic_reloads_total{status="failure",${id}} 1`,
    `${prefix}_automatic_reloads_total{status="success",${id}} 2`,
  ];
  expect(await linesIn(33)).toEqual(counted);
  expect(await linesIn(34)).toEqual([
    ...counted,
    `${prefix}_last_config_info{${id},hash="${hash('third')}"} 1`,
  ]);
});
