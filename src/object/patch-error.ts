/**
 * A patch that cannot be read (`malformed`, 400) or does not fit the object (`inapplicable`, 422). `unmergeable`: a strategic
 * merge patch that does not fit its type, for which Kubernetes has no code but 500 and answers in the words of the error.
 */
export class PatchError extends Error {
  readonly kind: 'malformed' | 'inapplicable' | 'unmergeable' | 'too-many';

  constructor(kind: PatchError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PatchError';
    this.kind = kind;
  }
}
