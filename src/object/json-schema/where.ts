/**
 * Where a value stands. Two paths run along: where it is for whoever asks, and how the texts name it, which begin at the value
 * that is validated.
 */
export interface Where {
  /** For example `spec.versions[0].schema.openAPIV3Schema.properties[spec].default`; empty for a whole object. */
  readonly root: string;
  /** For example `spec.replicas`; empty at the value itself. */
  readonly path: string;
}

export const fieldOf = ({ root, path }: Where): string =>
  root === '' || path === '' ? root + path : `${root}${path.startsWith('[') ? '' : '.'}${path}`;

export const below = ({ root, path }: Where, name: string): Where => ({
  root,
  path: path === '' ? name : `${path}.${name}`,
});

export const itemOf = ({ root, path }: Where, at: number): Where => ({ root, path: `${path}[${at}]` });
