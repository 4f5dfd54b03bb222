import { expect, test } from 'vitest';
import { AdmissionChain } from '../../src/admission/admission.ts';
import { AdmissionMetrics } from '../../src/admission/admission-metrics.ts';
import type { ApiObject } from '../../src/api/object-meta.ts';
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

test('a guard sees once what all plugins have made, before validation', async () => {
  const seen: string[] = [];
  const operations = ['CREATE'] as const;
  const again = { name: 'Again', operations, mutate: async () => 'reinvoke' as const };
  const guard = {
    name: 'Guard',
    operations,
    guard: async ({ object }: { readonly object: ApiObject | undefined }) => {
      seen.push(object?.metadata.name ?? '');
      throw new Error('refused');
    },
    validate: () => Promise.reject(new Error('too late')),
  };
  const names = {
    name: 'Names',
    operations,
    mutate: ({ object }: { readonly object: ApiObject | undefined }) => {
      if (object !== undefined) object.metadata.name = `${object.metadata.name}+`;
    },
  };
  const chain = new AdmissionChain([guard, again, names]);
  const attributes = attributesOf('configmaps', { object: toObject({ metadata: { name: 'a' } }) });
  await expect(chain.mutate(attributes)).rejects.toThrow('refused');
  expect(seen).toEqual(['a++']);
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
