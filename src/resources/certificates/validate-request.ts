import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { duplicate, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import { readCertificationRequest } from '../../x509/certification-request.ts';
import { duplicates, has } from '../validation/fields.ts';
import { strings } from '../validation/values.ts';
import { validateSignerName } from './validate-signer-name.ts';

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
] as const;
const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';
const MIN_EXPIRATION_SECONDS = 600;

export function validateSigningRequest(request: ApiObject): FieldError[] {
  const spec = part(request, 'spec');
  const broken = whyNoRequest(text(spec.request));
  return [
    ...(broken === undefined ? [] : [invalidValue('spec.request', spec.request, broken)]),
    ...validateUsages(strings(spec, 'usages'), 'spec.usages'),
    ...validateSigner(text(spec.signerName), 'spec.signerName'),
    ...validateExpiration(spec),
    ...validateRequestConditions(parts(part(request, 'status'), 'conditions')),
  ];
}

/** It must be signed with the key it asks a certificate for: a request with somebody else's key proves nothing. */
function whyNoRequest(request: string): string | undefined {
  try {
    return readCertificationRequest(request).signatureProblem;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function validateUsages(usages: readonly string[], path: string): FieldError[] {
  if (usages.length === 0) return [required(path)];
  return usages.flatMap((usage, at) => [
    ...(USAGES.some((known) => known === usage) ? [] : [notSupported(`${path}[${at}]`, usage, USAGES)]),
    ...(usages.indexOf(usage) < at ? [duplicate(`${path}[${at}]`, usage)] : []),
  ]);
}

const validateSigner = (signer: string, path: string): FieldError[] =>
  signer === LEGACY_SIGNER
    ? [invalidValue(path, signer, 'the legacy signerName is not allowed via this API version')]
    : validateSignerName(signer, path);

function validateExpiration(spec: JsonObject): FieldError[] {
  const seconds = count(spec.expirationSeconds);
  if (!has(spec, 'expirationSeconds') || seconds >= MIN_EXPIRATION_SECONDS) return [];
  const why = 'may not specify a duration less than 600 seconds (10 minutes)';
  return [invalidValue('spec.expirationSeconds', seconds, why)];
}

const CONDITION_STATUSES = ['False', 'True', 'Unknown'] as const;
/** Conditions that, once they are there, are true. */
const FINAL: readonly string[] = ['Approved', 'Denied', 'Failed'];

function validateRequestConditions(conditions: readonly JsonObject[]): FieldError[] {
  const types = conditions.map(({ type }) => text(type));
  const pathOf = (at: number): string => `status.conditions[${at}]`;
  return [
    ...conditions.flatMap(({ status }, at) => validateStatus(types[at] ?? '', text(status), pathOf(at))),
    ...validateVerdict(types, pathOf),
    ...duplicates(types, (at) => `${pathOf(at)}.type`),
  ];
}

function validateStatus(type: string, status: string, path: string): FieldError[] {
  const allowed: readonly string[] = FINAL.includes(type) ? ['True'] : CONDITION_STATUSES;
  const errors = type === '' ? [required(`${path}.type`)] : [];
  if (status === '') return [...errors, required(`${path}.status`)];
  return allowed.includes(status) ? errors : [...errors, notSupported(`${path}.status`, status, allowed)];
}

/** A request is approved or denied, never both. */
function validateVerdict(types: readonly string[], pathOf: (at: number) => string): FieldError[] {
  const other: Readonly<Record<string, string>> = { Approved: 'Denied', Denied: 'Approved' };
  return types.flatMap((type, at) => {
    const opposite = other[type];
    if (opposite === undefined || !types.slice(0, at).includes(opposite)) return [];
    const why = 'Approved and Denied conditions are mutually exclusive';
    return [invalidValue(`${pathOf(at)}.type`, type, why)];
  });
}
