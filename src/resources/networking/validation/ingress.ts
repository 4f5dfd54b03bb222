import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, invalidValue, required } from '../../../object/field-errors.ts';
import { checkName, checkWildcardSubdomain } from '../../../object/formats.ts';
import { goList, shown } from '../../../object/go-value.ts';
import { parseIp } from '../../../object/ip.ts';
import { part, parts, text } from '../../../object/parts.ts';
import { validateIngressPoint } from '../../load-balancer-status.ts';
import { strings } from '../../validation/values.ts';
import { validateIngressBackend } from './ingress-backend.ts';

/** What ingresses said their class with before spec.ingressClassName. */
export const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

const WRONG_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F'];
const WRONG_ENDS = ['/..', '/.'];

export function validateIngress(ingress: ApiObject): FieldError[] {
  const spec = part(ingress, 'spec');
  const rules = parts(spec, 'rules');
  const errors: FieldError[] = [];
  if (rules.length === 0 && spec.defaultBackend === undefined) {
    errors.push(
      invalidValue(
        'spec',
        shown(goList('networking.IngressRule', undefined)),
        'either `defaultBackend` or `rules` must be specified',
      ),
    );
  }
  if (spec.defaultBackend !== undefined) {
    errors.push(...validateIngressBackend(part(spec, 'defaultBackend'), 'spec.defaultBackend'));
  }
  errors.push(...rules.flatMap((rule, at) => validateRule(rule, `spec.rules[${at}]`)));
  errors.push(...parts(spec, 'tls').flatMap((tls, at) => validateTls(tls, `spec.tls[${at}]`)));
  if (spec.ingressClassName === undefined) return errors;
  const name = text(spec.ingressClassName);
  return [...errors, ...eachInvalid('spec.ingressClassName', name, checkName(name, 'dns-subdomain'))];
}

/** Both ways to name the class must agree on a new ingress. Old ones may have been changed in one of them since. */
export function validateIngressCreate(ingress: ApiObject): FieldError[] {
  const annotation = ingress.metadata.annotations?.[CLASS_ANNOTATION];
  const { ingressClassName } = part(ingress, 'spec');
  if (annotation === undefined || ingressClassName === undefined || annotation === ingressClassName)
    return [];
  const why = 'must match `ingressClassName` when both are specified';
  return [invalidValue(`annotations.${CLASS_ANNOTATION}`, annotation, why)];
}

export function validateIngressStatus(ingress: ApiObject): FieldError[] {
  return parts(part(ingress, 'status', 'loadBalancer'), 'ingress').flatMap((point, at) =>
    validateIngressPoint(point, `status.loadBalancer.ingress[${at}]`),
  );
}

/** A name, or `*.` and a name. */
const checkHost = (host: string): readonly string[] =>
  host.includes('*') ? checkWildcardSubdomain(host) : checkName(host, 'dns-subdomain');

function validateTls(tls: JsonObject, path: string): FieldError[] {
  const secret = text(tls.secretName);
  return [
    ...strings(tls, 'hosts').flatMap((host, at) =>
      eachInvalid(`${path}.hosts[${at}]`, host, checkHost(host)),
    ),
    ...(secret === '' ? [] : eachInvalid(`${path}.secretName`, secret, checkName(secret, 'dns-subdomain'))),
  ];
}

function validateRule(rule: JsonObject, path: string): FieldError[] {
  const host = text(rule.host);
  const errors: FieldError[] = [];
  if (host !== '') {
    if (parseIp(host) !== undefined) {
      errors.push(invalidValue(`${path}.host`, host, 'must be a DNS name, not an IP address'));
    }
    errors.push(...eachInvalid(`${path}.host`, host, checkHost(host)));
  }
  if (rule.http === undefined) return errors;
  const paths = parts(part(rule, 'http'), 'paths');
  if (paths.length === 0) errors.push(required(`${path}.http.paths`));
  return [...errors, ...paths.flatMap((one, at) => validatePath(one, `${path}.http.paths[${at}]`))];
}

function validatePath(one: JsonObject, path: string): FieldError[] {
  const type = text(one.pathType);
  if (type === '') return [required(`${path}.pathType`, 'pathType must be specified')];
  const given = text(one.path);
  return [
    ...eachInvalid(`${path}.path`, given, checkPath(given, type)),
    ...validateIngressBackend(part(one, 'backend'), `${path}.backend`),
  ];
}

function checkPath(path: string, type: string): string[] {
  const relative = path.startsWith('/') ? [] : ['must be an absolute path'];
  if (type === 'ImplementationSpecific') return path === '' ? [] : relative;
  if (type !== 'Exact' && type !== 'Prefix') return [];
  return [
    ...relative,
    ...WRONG_SEQUENCES.filter((part) => path.includes(part)).map((part) => `must not contain '${part}'`),
    ...WRONG_ENDS.filter((end) => path.endsWith(end)).map((end) => `cannot end with '${end}'`),
  ];
}
