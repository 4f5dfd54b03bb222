import { errorText } from '../../util/error-text.ts';
import { nameOfPiece, type Piece } from './file-index.ts';
import { PieceReader } from './piece-reader.ts';
import { Refused, type Shaped, type Shapes } from './shapes.ts';
import type { Unread } from './source.ts';

export interface ShapedPieces {
  readonly taken: readonly (Shaped | Refused)[];
  readonly unread: readonly Unread[];
}

/** PieceShaper reads objects from files and shapes them. */
export class PieceShaper {
  readonly #shapes: Shapes;
  readonly #reader = new PieceReader();

  constructor(shapes: Shapes) {
    this.#shapes = shapes;
  }

  shape(pieces: readonly Piece[]): ShapedPieces {
    const taken: (Shaped | Refused)[] = [];
    const unread: Unread[] = [];
    for (const piece of pieces)
      try {
        for (const object of this.#reader.read(piece))
          taken.push(withPlace(this.#shapes.take(object), piece));
      } catch (error) {
        unread.push({ name: nameOfPiece(piece), reason: errorText(error) });
      }
    return { taken, unread };
  }

  close(): void {
    this.#reader.close();
  }
}

/** What is to be corrected is found by its file, also where it has no name. */
const withPlace = (one: Shaped | Refused, piece: Piece): Shaped | Refused =>
  one instanceof Refused ? new Refused(`${one.name} (${nameOfPiece(piece)})`, one.reason) : one;
