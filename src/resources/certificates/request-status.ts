import { X509Certificate } from 'node:crypto';
import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { forbiddenField, invalidValue } from '../../object/field-errors.ts';
import { part, parts, text } from '../../object/parts.ts';
import { pemBlocks } from '../../x509/pem.ts';

/** Who may change what of a signing request's status: approvers the verdict, signers the certificate. */
export type StatusWriter = 'signer' | 'approver';

const VERDICTS = ['Approved', 'Denied'] as const;
const FINAL = [...VERDICTS, 'Failed'] as const;

export function validateStatusChange(request: ApiObject, old: ApiObject, writer: StatusWriter): FieldError[] {
  const removed = FINAL.filter((type) => ofType(request, type).length < ofType(old, type).length).map(
    (type) => forbiddenField('status.conditions', `updates may not remove a condition of type "${type}"`),
  );
  return writer === 'approver'
    ? removed
    : [...removed, ...validateVerdictKept(request, old), ...validateCertificateChange(request, old)];
}

function validateVerdictKept(request: ApiObject, old: ApiObject): FieldError[] {
  return VERDICTS.flatMap((type) => {
    const [before, after] = [ofType(old, type), ofType(request, type)];
    if (after.length < before.length || equal(before, after)) return [];
    const verb = after.length > before.length ? 'add' : 'modify';
    return [forbiddenField('status.conditions', `updates may not ${verb} a condition of type "${type}"`)];
  });
}

function validateCertificateChange(request: ApiObject, old: ApiObject): FieldError[] {
  const before = text(part(old, 'status').certificate);
  const after = text(part(request, 'status').certificate);
  if (before === after) return [];
  const path = 'status.certificate';
  const broken = after === '' ? undefined : whyNoChain(Buffer.from(after, 'base64').toString('latin1'));
  return [
    ...(broken === undefined ? [] : [invalidValue(path, '<certificate data>', broken)]),
    ...(before === '' ? [] : [forbiddenField(path, 'updates may not modify existing certificate content')]),
  ];
}

function whyNoChain(pem: string): string | undefined {
  const blocks = [...pemBlocks(pem)];
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  for (const { type, hasHeaders, der } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found "${type}"`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (!isCertificate(der)) return 'x509: malformed certificate';
  }
  return undefined;
}

function isCertificate(der: Buffer): boolean {
  try {
    return new X509Certificate(der).raw.length > 0;
  } catch {
    return false;
  }
}

const conditionsOf = (request: ApiObject): JsonObject[] => parts(part(request, 'status'), 'conditions');

const ofType = (request: ApiObject, type: string): JsonObject[] =>
  conditionsOf(request).filter((condition) => condition.type === type);

/**
 * The conditions of `view` as they are stored: verdicts stay as they were when the writer only repeats them, and conditions
 * that say nothing of their times get the present ones.
 */
export function conditionsToStore(view: ApiObject, old: ApiObject, writer: StatusWriter): JsonObject[] {
  const conditions = writer === 'signer' ? keepVerdicts(view, old) : conditionsOf(view);
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  return conditions.map((condition) => ({
    ...condition,
    lastUpdateTime: text(condition.lastUpdateTime, now),
    lastTransitionTime: text(condition.lastTransitionTime, transitionOf(condition, old) ?? now),
  }));
}

function transitionOf({ type, status }: JsonObject, old: ApiObject): string | undefined {
  const same = conditionsOf(old).find((condition) => condition.type === type && condition.status === status);
  const time = text(same?.lastTransitionTime);
  return time === '' ? undefined : time;
}

function keepVerdicts(view: ApiObject, old: ApiObject): JsonObject[] {
  const conditions = conditionsOf(view);
  return VERDICTS.reduce((kept, type) => {
    const before = ofType(old, type);
    if (before.length !== ofType(view, type).length) return kept;
    const queue = [...before];
    return kept.map((condition) => (condition.type === type ? (queue.shift() ?? condition) : condition));
  }, conditions);
}
