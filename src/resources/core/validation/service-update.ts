import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, invalidValue } from '../../../object/field-errors.ts';
import { goList, shown } from '../../../object/go-value.ts';
import { count, part } from '../../../object/parts.ts';
import { strings } from '../../validation/values.ts';
import { isExternalName, isHeadless, isLoadBalancer, needsHealthCheckNodePort } from '../service-kind.ts';

const CHANGED = 'may not change once set';

/** A second address or family may come and go; the first stays, except on the way from and to ExternalName. */
export function validateServiceUpdate(service: ApiObject, old: ApiObject): FieldError[] {
  const spec = part(service, 'spec');
  const before = part(old, 'spec');
  return [
    ...validateAddresses(spec, before),
    ...validateLoadBalancerClass(spec, before),
    ...validateHealthCheck(spec, before),
  ];
}

function validateAddresses(spec: JsonObject, before: JsonObject): FieldError[] {
  if (isExternalName(spec) || isExternalName(before)) return [];
  const headless = isHeadless(spec);
  const wasHeadless = isHeadless(before);
  if (headless && wasHeadless) return [];
  const errors = validateClusterIpsKept(spec, before);
  return headless === wasHeadless ? [...errors, ...validateFamiliesKept(spec, before)] : errors;
}

function validateClusterIpsKept(spec: JsonObject, before: JsonObject): FieldError[] {
  const ips = strings(spec, 'clusterIPs');
  const old = strings(before, 'clusterIPs');
  const changed = (at: number): FieldError => invalidValue(`spec.clusterIPs[${at}]`, ips, CHANGED);
  if (old.length === ips.length) return old.flatMap((ip, at) => (ip === ips[at] ? [] : [changed(at)]));
  if (ips.length === 0) {
    return [invalidValue('spec.clusterIPs[0]', ips, 'primary clusterIP can not be unset')];
  }
  const errors = old.length > 0 && old[0] !== ips[0] ? [changed(0)] : [];
  if (old.length > ips.length && ips.length === 1) errors.push(...validateRelease(spec, 'clusterIP'));
  return errors;
}

function validateFamiliesKept(spec: JsonObject, before: JsonObject): FieldError[] {
  const path = 'spec.ipFamilies[0]';
  const families = strings(spec, 'ipFamilies');
  const old = strings(before, 'ipFamilies');
  if (old.length === families.length) {
    return old.flatMap((family, at) =>
      family === families[at] ? [] : [invalidValue(path, shown(goList('core.IPFamily', families)), CHANGED)],
    );
  }
  const errors: FieldError[] = [];
  const released = old.length > families.length;
  if (released && strings(spec, 'clusterIPs').length === 0) {
    errors.push(
      invalidValue(path, shown(goList('core.IPFamily', families)), 'primary ipFamily can not be unset'),
    );
  }
  if (old.length > 0 && families.length > 0 && old[0] !== families[0]) {
    errors.push(invalidValue(path, strings(spec, 'clusterIPs'), CHANGED));
  }
  if (released && families.length === 1) errors.push(...validateRelease(spec, 'ipFamily'));
  return errors;
}

function validateRelease(spec: JsonObject, what: string): FieldError[] {
  if (spec.ipFamilyPolicy === 'SingleStack') return [];
  const why = `must be set to 'SingleStack' when releasing the secondary ${what}`;
  return [invalidValue('spec.ipFamilyPolicy', spec.ipFamilyPolicy, why)];
}

function validateLoadBalancerClass(spec: JsonObject, before: JsonObject): FieldError[] {
  if (!isLoadBalancer(spec) || !isLoadBalancer(before)) return [];
  if (spec.loadBalancerClass === before.loadBalancerClass) return [];
  return [invalidValue('spec.loadBalancerClass', spec.loadBalancerClass, CHANGED)];
}

function validateHealthCheck(spec: JsonObject, before: JsonObject): FieldError[] {
  if (!needsHealthCheckNodePort(spec) || !needsHealthCheckNodePort(before)) return [];
  if (count(spec.healthCheckNodePort) === count(before.healthCheckNodePort)) return [];
  return [forbiddenField('spec.healthCheckNodePort', 'field is immutable')];
}
