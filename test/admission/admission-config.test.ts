import { expect, test } from 'vitest';
import { parseAdmissionConfig } from '../../src/admission/admission-config.ts';

const HEAD = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n';

test('a plugin is configured in the file itself, or in one of its own', () => {
  const configs = parseAdmissionConfig(
    `${HEAD}plugins:\n- name: PodSecurity\n  path: ignored.yaml\n  configuration: {kind: X}\n- name: EventRateLimit\n  path: limits.yaml\n- name: Priority\n`,
  );
  expect(configs).toEqual(
    new Map<string, unknown>([
      ['PodSecurity', { value: { kind: 'X' } }],
      ['EventRateLimit', { path: 'limits.yaml' }],
    ]),
  );
});

test('one error lists every problem of the file', () => {
  const text = `${HEAD.replace('v1', 'v7')}plugins:\n- name: PodSecurity\n  path: 1\n- name: Unheard\n- name: PodSecurity\n  file: x\n`;
  expect(() => parseAdmissionConfig(text)).toThrow(
    /apiVersion: Unsupported value: .*plugins\[0\]\.path: .*plugins\[1\]\.name: Unsupported value: "Unheard".*plugins\[2\]\.file: unknown field/,
  );
});
