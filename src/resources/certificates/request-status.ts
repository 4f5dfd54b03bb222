import { X509Certificate } from 'node:crypto';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
  CertificateSigningRequestStatus,
} from '../../api/types/certificates/v1.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import type { ViewSubresource } from '../../registry/resource-definition.ts';
import { pemBlocks } from '../../x509/pem.ts';
import { checkedUpdate } from '../rules/checked.ts';

type Request = CertificateSigningRequest;
type Condition = CertificateSigningRequestCondition;

/** Approvers write the verdict of a signing request, signers its certificate. */
type StatusWriter = 'signer' | 'approver';

const VERDICTS = ['Approved', 'Denied'];
const FINAL = [...VERDICTS, 'Failed'];

export const approval = statusView('approval', 'approver');
export const signing = statusView('status', 'signer');

function statusView(name: string, writer: StatusWriter): ViewSubresource<Request> {
  return {
    access: 'view',
    name,
    served: { group: 'certificates.k8s.io', version: 'v1', kind: 'CertificateSigningRequest' },
    type: 'certificates/v1.CertificateSigningRequest',
    verbs: ['get', 'patch', 'update'],
    resetFields: [['spec'], ['status', writer === 'signer' ? 'conditions' : 'certificate']],
    read: (request) => request,
    write: (view, old) => {
      const conditions = conditionsToStore(view, old, writer);
      const status = {
        ...(conditions.length === 0 ? {} : { conditions }),
        ...certificateOf(writer === 'signer' ? view : old),
      };
      return { ...old, metadata: view.metadata, status };
    },
    validate: checkedUpdate((at, request, old) => {
      validateFinalKept(at.field('status').field('conditions'), request, old);
      if (writer === 'approver') return;
      validateVerdictKept(at.field('status').field('conditions'), request, old);
      validateCertificateChange(at.field('status').field('certificate'), request, old);
    }),
  };
}

function certificateOf({ status = {} }: Request): CertificateSigningRequestStatus {
  return status.certificate === undefined ? {} : { certificate: status.certificate };
}

const conditionsOf = ({ status = {} }: Request): readonly Condition[] => status.conditions ?? [];

const ofType = (request: Request, type: string): readonly Condition[] =>
  conditionsOf(request).filter((condition) => condition.type === type);

function validateFinalKept(at: FieldPath, request: Request, old: Request): void {
  for (const type of FINAL)
    if (ofType(request, type).length < ofType(old, type).length)
      at.forbidden(`updates may not remove a condition of type "${type}"`);
}

function validateVerdictKept(at: FieldPath, request: Request, old: Request): void {
  for (const type of VERDICTS) {
    const [before, after] = [ofType(old, type), ofType(request, type)];
    if (after.length < before.length || equal(before, after)) continue;
    const verb = after.length > before.length ? 'add' : 'modify';
    at.forbidden(`updates may not ${verb} a condition of type "${type}"`);
  }
}

function validateCertificateChange(at: FieldPath, request: Request, old: Request): void {
  const before = old.status?.certificate ?? '';
  const after = request.status?.certificate ?? '';
  if (before === after) return;
  const problem = after === '' ? undefined : chainProblem(Buffer.from(after, 'base64').toString('latin1'));
  if (problem !== undefined) at.invalid('<certificate data>', problem);
  if (before !== '') at.forbidden('updates may not modify existing certificate content');
}

function chainProblem(pem: string): string | undefined {
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

/**
 * The conditions of `view` as they are stored: a signer that repeats the verdicts keeps them unchanged, and absent times are
 * filled in.
 */
function conditionsToStore(view: Request, old: Request, writer: StatusWriter): Condition[] {
  const conditions = writer === 'signer' ? keepVerdicts(view, old) : conditionsOf(view);
  const now = toTimestamp(new Date());
  const transitions = new Map(
    conditionsOf(old)
      .toReversed()
      .map((condition) => [stateOf(condition), condition.lastTransitionTime]),
  );
  return conditions.map((condition) => ({
    ...condition,
    lastUpdateTime: condition.lastUpdateTime || now,
    lastTransitionTime: condition.lastTransitionTime || transitions.get(stateOf(condition)) || now,
  }));
}

const stateOf = ({ type = '', status = '' }: Condition): string => `${type} ${status}`;

function keepVerdicts(view: Request, old: Request): readonly Condition[] {
  return VERDICTS.reduce((kept, type) => {
    const before = ofType(old, type);
    if (before.length !== ofType(view, type).length) return kept;
    const queue = [...before];
    return kept.map((condition) => (condition.type === type ? (queue.shift() ?? condition) : condition));
  }, conditionsOf(view));
}
