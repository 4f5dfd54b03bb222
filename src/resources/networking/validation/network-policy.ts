import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import {
  eachInvalid,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../object/field-errors.ts';
import { checkPort, checkPortName } from '../../../object/formats.ts';
import { goList, shown } from '../../../object/go-value.ts';
import { contains, parseCidr } from '../../../object/ip.ts';
import { count, part, parts, text } from '../../../object/parts.ts';
import { validateCidr } from '../../validation/ip-fields.ts';
import { validateLabelSelector } from '../../validation/label-selector.ts';
import { strings } from '../../validation/values.ts';

const POLICY_TYPES = ['Ingress', 'Egress'];
const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];

export function validateNetworkPolicy(policy: ApiObject): FieldError[] {
  const spec = part(policy, 'spec');
  return [
    ...validateLabelSelector(part(spec, 'podSelector'), 'spec.podSelector'),
    ...validateRules(parts(spec, 'ingress'), 'from', 'spec.ingress'),
    ...validateRules(parts(spec, 'egress'), 'to', 'spec.egress'),
    ...validateTypes(strings(spec, 'policyTypes')),
  ];
}

function validateRules(rules: readonly JsonObject[], side: 'from' | 'to', path: string): FieldError[] {
  return rules.flatMap((rule, at) => [
    ...parts(rule, 'ports').flatMap((port, index) => validatePort(port, `${path}[${at}].ports[${index}]`)),
    ...parts(rule, side).flatMap((peer, index) => validatePeer(peer, `${path}[${at}].${side}[${index}]`)),
  ]);
}

function validateTypes(types: readonly string[]): FieldError[] {
  if (types.length > POLICY_TYPES.length) {
    return [
      invalidValue(
        'spec.policyTypes',
        shown(goList('networking.PolicyType', types)),
        'may not specify more than two policyTypes',
      ),
    ];
  }
  return types.flatMap((type, at) =>
    POLICY_TYPES.includes(type) ? [] : [notSupported(`spec.policyTypes[${at}]`, type, POLICY_TYPES)],
  );
}

function validatePort({ protocol, port, endPort }: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (protocol !== undefined && !PROTOCOLS.includes(text(protocol))) {
    errors.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS));
  }
  const unusable = (why: string): FieldError[] =>
    endPort === undefined ? [] : [invalidValue(`${path}.endPort`, endPort, why)];
  if (port === undefined) {
    return [...errors, ...unusable('may not be specified when `port` is not specified')];
  }
  if (typeof port === 'string') {
    errors.push(...unusable('may not be specified when `port` is non-numeric'));
    return [...errors, ...eachInvalid(`${path}.port`, port, checkPortName(port))];
  }
  errors.push(...eachInvalid(`${path}.port`, port, checkPort(count(port))));
  if (endPort === undefined) return errors;
  if (count(endPort) < count(port)) {
    // Kubernetes shows the port here, not the end.
    errors.push(invalidValue(`${path}.endPort`, port, 'must be greater than or equal to `port`'));
  }
  return [...errors, ...eachInvalid(`${path}.endPort`, endPort, checkPort(count(endPort)))];
}

function validatePeer(peer: JsonObject, path: string): FieldError[] {
  const selectors = ['podSelector', 'namespaceSelector'].filter((field) => peer[field] !== undefined);
  const errors = selectors.flatMap((field) => validateLabelSelector(part(peer, field), `${path}.${field}`));
  if (peer.ipBlock === undefined) {
    return selectors.length > 0 ? errors : [required(path, 'must specify a peer')];
  }
  errors.push(...validateIpBlock(part(peer, 'ipBlock'), `${path}.ipBlock`));
  if (selectors.length === 0) return errors;
  return [...errors, forbiddenField(path, 'may not specify both ipBlock and another peer')];
}

function validateIpBlock(block: JsonObject, path: string): FieldError[] {
  const cidr = text(block.cidr);
  if (cidr === '') return [required(`${path}.cidr`)];
  const range = parseCidr(cidr);
  if (range === undefined) return validateCidr(`${path}.cidr`, cidr);
  return strings(block, 'except').flatMap((except, at) => {
    const inner = parseCidr(except);
    if (inner === undefined) return validateCidr(`${path}.except[${at}]`, except);
    if (contains(range, inner) && range.prefixBits < inner.prefixBits) return [];
    return [invalidValue(`${path}.except[${at}]`, except, 'must be a strict subset of `cidr`')];
  });
}
