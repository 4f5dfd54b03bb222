import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, required } from '../../object/field-errors.ts';
import { problemsOf } from '../../object/field-path.ts';
import { checkName } from '../../object/formats.ts';
import { goList, shown } from '../../object/go-value.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import { validateNodeSelector } from '../pod/validation/node-selector.ts';
import { has } from '../validation/fields.ts';
import { validateImmutableField } from '../validation/immutable.ts';
import { validateDevice } from './validate-device.ts';
import { validateDistinct, validateDriverName, validatePoolName, validateSize } from './validate-names.ts';

const MAX_DEVICES = 128;

/** The devices of one driver that one node, some nodes, or all nodes reach. */
export function validateSlice(slice: ApiObject): FieldError[] {
  const spec = part(slice, 'spec');
  const devices = parts(spec, 'devices');
  const pathOf = (at: number): string => `spec.devices[${at}]`;
  return [
    ...validateDriverName(text(spec.driver), 'spec.driver'),
    ...validatePool(part(spec, 'pool'), 'spec.pool'),
    ...validateNodes(spec),
    ...devices.flatMap((device, at) => validateDevice(device, pathOf(at))),
    ...validateSize(devices, MAX_DEVICES, 'spec.devices'),
    ...validateDistinct(
      devices.map(({ name }) => text(name)),
      (at) => `${pathOf(at)}.name`,
    ),
  ];
}

export function validateSliceUpdate(slice: ApiObject, old: ApiObject): FieldError[] {
  const [spec, before] = [part(slice, 'spec'), part(old, 'spec')];
  return [
    ...validateImmutableField('spec.pool.name', part(spec, 'pool').name, part(before, 'pool').name),
    ...validateImmutableField('spec.driver', spec.driver, before.driver),
    ...validateImmutableField('spec.nodeName', text(spec.nodeName), text(before.nodeName)),
  ];
}

function validatePool(pool: JsonObject, path: string): FieldError[] {
  const slices = count(pool.resourceSliceCount);
  const generation = count(pool.generation);
  const errors = validatePoolName(text(pool.name), `${path}.name`);
  if (slices <= 0)
    errors.push(invalidValue(`${path}.resourceSliceCount`, slices, 'must be greater than zero'));
  if (generation < 0)
    errors.push(invalidValue(`${path}.generation`, generation, 'must be greater than or equal to zero'));
  return errors;
}

function validateNodes(spec: JsonObject): FieldError[] {
  const node = text(spec.nodeName);
  const selects = has(spec, 'nodeSelector');
  const ways = [node !== '', selects, spec.allNodes === true].filter(Boolean).length;
  const why = 'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required';
  return [
    ...(node === '' ? [] : eachInvalid('spec.nodeName', node, checkName(node, 'dns-subdomain'))),
    ...(selects ? validateSelector(part(spec, 'nodeSelector'), 'spec.nodeSelector') : []),
    ...(ways === 0 ? [required('spec', why)] : []),
    ...(ways > 1 ? [invalidValue('spec', spec, why)] : []),
  ];
}

/** One term only: selectors of slices are merged when a claim gets devices of several. */
function validateSelector(selector: JsonObject, path: string): FieldError[] {
  const terms = parts(selector, 'nodeSelectorTerms');
  const why = 'must have exactly one selector term';
  return [
    ...problemsOf((at) => validateNodeSelector(at, selector), path),
    ...(terms.length === 1
      ? []
      : [invalidValue(`${path}.nodeSelectorTerms`, shown(goList('core.NodeSelectorTerm', terms)), why)]),
  ];
}
