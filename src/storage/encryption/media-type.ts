import { JSON_MEDIA_TYPE } from '../object-encoding.ts';

/**
 * The media type of an encrypted object, for people who look for it in SQL:
 *
 *     application/x-encrypted; provider=aescbc; key="key1"
 *     application/x-encrypted; provider=kms; plugin="vault"; key="2024-06"; of="application/yaml"
 *
 * `of`: the media type of the plain bytes, where that is not JSON.
 */
export interface EncryptedForm {
  readonly provider: string;
  /** The plugin's name, of a KMS provider. */
  readonly plugin?: string;
  /** The key's name, or the plugin's id of it. Never the key. */
  readonly key: string;
  readonly of: string;
}

const TYPE = 'application/x-encrypted';

export const isEncrypted = (mediaType: string): boolean => mediaType.startsWith(`${TYPE};`);

export function formatForm({ provider, plugin, key, of }: EncryptedForm): string {
  const parts = [TYPE, `provider=${provider}`];
  if (plugin !== undefined) parts.push(`plugin=${JSON.stringify(plugin)}`);
  parts.push(`key=${JSON.stringify(key)}`);
  if (of !== JSON_MEDIA_TYPE) parts.push(`of=${JSON.stringify(of)}`);
  return parts.join('; ');
}

const PARAMETER = /; ([a-z]+)=("(?:[^"\\]|\\.)*"|[a-z]+)/y;

/** @throws Error when it is none of ours */
export function parseForm(mediaType: string): EncryptedForm {
  const found = new Map<string, string>();
  PARAMETER.lastIndex = TYPE.length;
  while (PARAMETER.lastIndex < mediaType.length) {
    const match = PARAMETER.exec(mediaType);
    if (match === null) throw new Error(`the media type ${mediaType} is malformed`);
    const [, name = '', value = ''] = match;
    found.set(name, value.startsWith('"') ? String(JSON.parse(value)) : value);
  }
  const provider = found.get('provider');
  const key = found.get('key');
  if (provider === undefined || key === undefined)
    throw new Error(`the media type ${mediaType} lacks a part`);
  const plugin = found.get('plugin');
  return {
    provider,
    key,
    of: found.get('of') ?? JSON_MEDIA_TYPE,
    ...(plugin === undefined ? {} : { plugin }),
  };
}
