/**
 * Puts many small pieces together into chunks of a size that sockets like. Sending a list of 10,000 objects as 30,000
 * buffers costs more than copying them once.
 */
const CHUNK_BYTES = 256 * 1024;

export class ChunkWriter {
  readonly #chunks: Buffer[] = [];
  #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  #used = 0;

  /** ASCII only. */
  text(text: string): void {
    if (this.#used + text.length > CHUNK_BYTES) this.#flush();
    this.#used += this.#chunk.write(text, this.#used, 'latin1');
  }

  bytes(bytes: Buffer, from = 0): void {
    const length = bytes.length - from;
    if (this.#used + length > CHUNK_BYTES) this.#flush();
    if (length > CHUNK_BYTES) this.#chunks.push(bytes.subarray(from));
    else this.#used += bytes.copy(this.#chunk, this.#used, from);
  }

  /** The writer must not be used after this. */
  finish(): Buffer[] {
    if (this.#used > 0) this.#chunks.push(this.#chunk.subarray(0, this.#used));
    return this.#chunks;
  }

  #flush(): void {
    if (this.#used === 0) return;
    this.#chunks.push(this.#chunk.subarray(0, this.#used));
    this.#chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    this.#used = 0;
  }
}
