/**
 * Parses a document in short slices, so that no file, however long, keeps the page from answering. The editor's own
 * parser works up to 100 ms at a time.
 */
import { DocInput, Language, defineLanguageFacet } from "@codemirror/language";
import type { Text } from "@codemirror/state";
import { NodeType, Parser, Tree, TreeFragment, type Input, type PartialParse } from "@lezer/common";

const SLICE_MS = 8;
/** What is coloured first, and how much is added to it at a time. */
const FIRST_CHARACTERS = 20_000;
const MORE_CHARACTERS = 100_000;
const LATEST_MS = 200;

const languageData = defineLanguageFacet();

/** A language whose tree is there already. Of a text that it does not belong to, there is none. */
class HeldTree extends Parser {
  constructor(private readonly tree: Tree) {
    super();
  }

  override createParse(input: Input): PartialParse {
    const { tree } = this;
    const isIts = tree.length <= input.length;
    const advance = () => (isIts ? tree : new Tree(NodeType.none, [], [], input.length));
    return { parsedPos: input.length, stoppedAt: null, stopAt: () => {}, advance };
  }
}

/** The tree as an extension of the editor: colours and folding come from it. */
export function languageWith(tree: Tree): Language {
  return new Language(languageData, new HeldTree(tree), [], "parsed");
}

/** Calls `publish` with a tree that reaches further each time. Returns how to end it. */
export function parseInBackground(parser: Parser, text: Text, publish: (tree: Tree) => void): () => void {
  const input = new DocInput(text);
  let fragments: readonly TreeFragment[] = [];
  let parse: PartialParse | null = null;
  let target = Math.min(FIRST_CHARACTERS, text.length);
  let cancel = () => {};

  const slice = () => {
    const end = performance.now() + SLICE_MS;
    while (performance.now() < end) {
      if (!parse) {
        parse = parser.startParse(input, fragments);
        if (target < text.length) parse.stopAt(target);
      }
      const tree = parse.advance();
      if (!tree) continue;
      publish(tree);
      if (target >= text.length) return;
      fragments = TreeFragment.addTree(tree, [], true);
      target = Math.min(target + MORE_CHARACTERS, text.length);
      parse = null;
      break; // what is published is drawn before more is parsed
    }
    cancel = whenIdle(slice);
  };
  slice();
  return () => cancel();
}

/** Safari has no idle callback. */
function whenIdle(work: () => void): () => void {
  if (typeof requestIdleCallback !== "function") {
    const timer = setTimeout(work);
    return () => clearTimeout(timer);
  }
  const id = requestIdleCallback(work, { timeout: LATEST_MS });
  return () => cancelIdleCallback(id);
}
