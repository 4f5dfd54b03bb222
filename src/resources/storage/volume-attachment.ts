import type {
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttachmentStatus,
} from '../../api/types/storage/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { validateInlineVolumeSpec } from '../core/persistent-volume/validate.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeName } from '../rules/name-rules.ts';
import { mustBeWithin } from '../rules/numbers.ts';
import { byteLengthOf } from './classes.ts';
import { mustBeDriverName } from './csi-driver.ts';

export const volumeattachments = define<VolumeAttachment>({
  group: 'storage.k8s.io',
  resource: 'volumeattachments',
  kind: 'VolumeAttachment',
  namespaced: false,
  versions: [{ version: 'v1', type: 'storage/v1.VolumeAttachment' }],
  emptyStatus: { attached: false },
  statusResets: [['spec'], ['metadata']],
  table: {
    columns: [
      nameColumn(),
      { ...column('Attacher'), format: 'name' },
      column('PV'),
      column('Node'),
      column('Attached', 0, 'boolean'),
      column('Age'),
    ],
    cells: (attachment, now) => {
      const { metadata, spec = {}, status } = attachment;
      return [
        metadata.name ?? '',
        spec.attacher ?? '',
        spec.source?.persistentVolumeName ?? '',
        spec.nodeName ?? '',
        status?.attached === true,
        age(attachment, now),
      ];
    },
  },
  strategy: {
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
    validate: checked(validate),
  },
});

function validate(root: FieldPath, { spec = {}, status = {} }: VolumeAttachment): void {
  const at = root.field('spec');
  mustBeDriverName(at.field('attacher'), spec.attacher ?? '');
  validateSource(at.field('source'), spec.source ?? {});
  mustBeName(at.field('nodeName'), spec.nodeName ?? '', 'dns-subdomain');
  validateStatus(root.field('status'), status);
}

const ONE_SOURCE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

function validateSource(at: FieldPath, source: VolumeAttachmentSource): void {
  const { persistentVolumeName: name, inlineVolumeSpec: inline } = source;
  if (name === undefined) {
    if (inline === undefined) at.required(ONE_SOURCE);
    else validateInlineVolumeSpec(at.field('inlineVolumeSpec'), inline);
    return;
  }
  const path = at.field('persistentVolumeName');
  if (inline !== undefined) at.forbidden(ONE_SOURCE);
  if (name === '') path.required('must specify non empty persistentVolumeName');
  mustBeName(path, name, 'dns-subdomain');
}

const MAX_METADATA_BYTES = 256 * 1024;
const MAX_MESSAGE_BYTES = 1024;
const CODES = { least: 0, most: 2 ** 31 - 1 };

function validateStatus(at: FieldPath, status: VolumeAttachmentStatus): void {
  if (byteLengthOf(status.attachmentMetadata ?? {}) > MAX_METADATA_BYTES)
    at.field('attachmentMetadata').tooLong(MAX_METADATA_BYTES);
  // The limit Kubernetes names is not the one it applies.
  for (const field of ['attachError', 'detachError'] as const) {
    const { message = '', errorCode } = status[field] ?? {};
    if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES)
      at.field(field).field('message').tooLong(MAX_METADATA_BYTES);
    mustBeWithin(at.field(field).field('errorCode'), errorCode, CODES);
  }
}
