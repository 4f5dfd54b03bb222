import { expect, test } from 'vitest';
import { AdmissionChain } from '../../src/admission/admission.ts';
import { AdmissionMetrics } from '../../src/admission/admission-metrics.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { attributesOf, toObject } from '../kit/admission.ts';

test('a chain lets nothing through before it has its plugins', async () => {
  const chain = new AdmissionChain();
  const attributes = attributesOf('configmaps', { object: toObject({ metadata: { name: 'it' } }) });
  await expect(chain.mutate(attributes)).rejects.toThrow('no plugins yet');
  await expect(chain.validate(attributes)).rejects.toThrow('no plugins yet');
  chain.use([]);
  await expect(chain.mutate(attributes)).resolves.toBeUndefined();
  await expect(chain.validate(attributes)).resolves.toBeUndefined();
});

test('plugins and phases are timed by their outcome; what is no plugin is timed with its phase alone', async () => {
  const metrics = new Metrics();
  const admission = new AdmissionMetrics(metrics);
  const passes = { name: 'Passes', operations: ['CREATE'], mutate: () => {}, validate: () => {} } as const;
  const waits = { name: 'Waits', operations: ['CREATE'], mutate: async () => {} } as const;
  const refuses = {
    name: 'Refuses',
    operations: ['CREATE', 'DELETE'],
    validate: () => Promise.reject(new Error('no')),
  } as const;
  const part = { name: 'Part', operations: ['CREATE'], mutate: () => {} } as const;
  const chain = new AdmissionChain();
  chain.use([passes, waits, part, refuses], {
    step: (phase, operation) => admission.step(phase, operation),
    plugin: (name, phase, operation) =>
      name === 'Part' ? undefined : admission.plugin(name, phase, operation),
  });
  const attributes = attributesOf('configmaps', { object: toObject({}) });
  await chain.mutate(attributes);
  await expect(chain.validate(attributes)).rejects.toThrow('no');
  const lines = (await metrics.text()).split('\n');
  const counts = (name: string): string[] =>
    lines
      .filter((line) => line.startsWith(`${name}_count`))
      .map((line) => line.slice(name.length + '_count'.length));
  expect(counts('apiserver_admission_controller_admission_duration_seconds')).toEqual([
    '{name="Passes",type="admit",operation="CREATE",rejected="false"} 1',
    '{name="Waits",type="admit",operation="CREATE",rejected="false"} 1',
    '{name="Passes",type="validate",operation="CREATE",rejected="false"} 1',
    '{name="Refuses",type="validate",operation="CREATE",rejected="true"} 1',
  ]);
  const steps = [
    '{type="admit",operation="CREATE",rejected="false"} 1',
    '{type="validate",operation="CREATE",rejected="true"} 1',
  ];
  expect(counts('apiserver_admission_step_admission_duration_seconds')).toEqual(steps);
  expect(counts('apiserver_admission_step_admission_duration_seconds_summary')).toEqual(steps);
});
