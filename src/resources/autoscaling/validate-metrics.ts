import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import {
  eachInvalid,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../object/field-errors.ts';
import { checkName, checkQualifiedName } from '../../object/formats.ts';
import { count, part, text } from '../../object/parts.ts';
import { parseQuantity } from '../../object/quantity.ts';
import {
  isExtendedResource,
  isNativeResource,
  isStandardContainerResource,
  isStandardResource,
} from '../../object/resource-names.ts';
import { table } from '../../util/table.ts';

/** What the number of replicas follows (Kubernetes: autoscaling validation, validateMetricSpec). */

type Validate = (source: JsonObject, path: string) => FieldError[];

/** Each type of metric with the field it is described in. */
const SOURCES: Readonly<Record<string, { readonly field: string; readonly validate: Validate }>> = table({
  ContainerResource: { field: 'containerResource', validate: validateContainerResource },
  External: { field: 'external', validate: validateExternal },
  Object: { field: 'object', validate: validateObject },
  Pods: { field: 'pods', validate: validatePods },
  Resource: { field: 'resource', validate: validateResource },
});
/** When several are given, the first of these is looked at. */
const PRECEDENCE = ['Object', 'External', 'Pods', 'Resource', 'ContainerResource'];

export function validateMetric(metric: JsonObject, path: string): FieldError[] {
  const type = text(metric.type);
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(`${path}.type`, 'must specify a metric source type'));
  if (SOURCES[type] === undefined) errors.push(notSupported(`${path}.type`, type, Object.keys(SOURCES)));
  const present = PRECEDENCE.flatMap((name) => SOURCES[name] ?? []).filter(
    ({ field }) => metric[field] !== undefined,
  );
  const [first] = present;
  if (first !== undefined)
    errors.push(...first.validate(part(metric, first.field), `${path}.${first.field}`));
  return [...errors, ...validateOneSource(type, present, path)];
}

function validateOneSource(
  type: string,
  present: readonly { readonly field: string }[],
  path: string,
): FieldError[] {
  const expected = SOURCES[type]?.field;
  const errors: FieldError[] = [];
  if (expected !== undefined && !present.some(({ field }) => field === expected)) {
    errors.push(required(`${path}.${expected}`, 'must populate information for the given metric source'));
  }
  if (present.length === 1) return errors;
  const others = present.filter(({ field }) => field !== expected);
  const why = 'must populate the given metric source only';
  return [...errors, ...others.map(({ field }) => forbiddenField(`${path}.${field}`, why))];
}

export function validateReference(reference: JsonObject, path: string): FieldError[] {
  return ['kind', 'name'].flatMap((name) => {
    const value = text(reference[name]);
    const field = `${path}.${name}`;
    return value === '' ? [required(field)] : eachInvalid(field, value, checkName(value, 'path-segment'));
  });
}

function validateObject(source: JsonObject, path: string): FieldError[] {
  const target = part(source, 'target');
  return [
    ...validateReference(part(source, 'describedObject'), `${path}.describedObject`),
    ...validateIdentifier(part(source, 'metric'), `${path}.metric.name`),
    ...validateTarget(target, `${path}.target`),
    ...(target.value === undefined && target.averageValue === undefined
      ? [required(`${path}.target.averageValue`, 'must set either a target value or averageValue')]
      : []),
  ];
}

function validateExternal(source: JsonObject, path: string): FieldError[] {
  const { value, averageValue } = part(source, 'target');
  const missing = 'must set either a target value for metric or a per-pod target';
  const both = 'may not set both a target value for metric and a per-pod target';
  return [
    ...validateIdentifier(part(source, 'metric'), `${path}.metric.name`),
    ...validateTarget(part(source, 'target'), `${path}.target`),
    ...(value === undefined && averageValue === undefined
      ? [required(`${path}.target.averageValue`, missing)]
      : []),
    ...(value !== undefined && averageValue !== undefined
      ? [forbiddenField(`${path}.target.value`, both)]
      : []),
  ];
}

function validatePods(source: JsonObject, path: string): FieldError[] {
  const target = part(source, 'target');
  return [
    ...validateIdentifier(part(source, 'metric'), `${path}.metric.name`),
    ...validateTarget(target, `${path}.target`),
    ...(target.averageValue === undefined
      ? [required(`${path}.target.averageValue`, 'must specify a positive target averageValue')]
      : []),
  ];
}

function validateResource(source: JsonObject, path: string): FieldError[] {
  return [
    ...(text(source.name) === '' ? [required(`${path}.name`, 'must specify a resource name')] : []),
    ...validateTarget(part(source, 'target'), `${path}.target`),
    ...validateUtilization(part(source, 'target'), `${path}.target`),
  ];
}

function validateContainerResource(source: JsonObject, path: string): FieldError[] {
  const name = text(source.name);
  const container = text(source.container);
  return [
    ...(name === ''
      ? [required(`${path}.name`, 'must specify a resource name')]
      : eachInvalid(`${path}.name`, name, checkContainerResource(name))),
    ...(container === ''
      ? [required(`${path}.container`, 'must specify a container')]
      : eachInvalid(`${path}.container`, container, checkName(container, 'dns-label'))),
    ...validateTarget(part(source, 'target'), `${path}.target`),
    ...validateUtilization(part(source, 'target'), `${path}.target`),
  ];
}

/** `cpu`, `hugepages-2Mi`, `example.com/gpu` */
function checkContainerResource(name: string): readonly string[] {
  const reasons = checkQualifiedName(name);
  if (reasons.length > 0) return reasons;
  if (name.includes('/')) {
    const known = isNativeResource(name) || isExtendedResource(name);
    return known ? [] : ["doesn't follow extended resource name standard"];
  }
  if (isStandardContainerResource(name)) return [];
  const why = 'must be a standard resource for containers';
  return isStandardResource(name) ? [why] : ['must be a standard resource type or fully qualified', why];
}

/** What resources are measured against: an amount, or a share of what pods request. */
function validateUtilization(target: JsonObject, path: string): FieldError[] {
  const { averageUtilization, averageValue } = target;
  if (averageUtilization === undefined && averageValue === undefined) {
    const why = 'must set either a target raw value or a target utilization';
    return [required(`${path}.averageUtilization`, why)];
  }
  if (averageUtilization === undefined || averageValue === undefined) return [];
  return [
    forbiddenField(`${path}.averageValue`, 'may not set both a target raw value and a target utilization'),
  ];
}

const TARGETS = ['Utilization', 'Value', 'AverageValue'];

function validateTarget(target: JsonObject, path: string): FieldError[] {
  const type = text(target.type);
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(`${path}.type`, 'must specify a metric target type'));
  if (!TARGETS.includes(type))
    errors.push(invalidValue(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue'));
  for (const name of ['value', 'averageValue']) {
    if (target[name] !== undefined && !isPositive(target[name]))
      errors.push(invalidValue(`${path}.${name}`, target[name], 'must be positive'));
  }
  if (target.averageUtilization !== undefined && count(target.averageUtilization) < 1)
    errors.push(
      invalidValue(`${path}.averageUtilization`, target.averageUtilization, 'must be greater than 0'),
    );
  return errors;
}

const isPositive = (quantity: JsonValue | undefined): boolean =>
  (parseQuantity(text(quantity))?.nanos ?? 0n) > 0n;

function validateIdentifier({ name }: JsonObject, field: string): FieldError[] {
  const value = text(name);
  if (value === '') return [required(field, 'must specify a metric name')];
  return eachInvalid(field, value, checkName(value, 'path-segment'));
}
