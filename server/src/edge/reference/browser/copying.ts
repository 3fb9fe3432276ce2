/** A button at every example that puts its text onto the clipboard. */

const shownForMs = 1_500;

export function addCopyButtons(root: ParentNode): void {
  for (const example of root.querySelectorAll<HTMLElement>('figure > pre, .route > code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.onclick = async () => {
      button.textContent = (await copy(example)) ? 'Copied' : 'Press Ctrl+C';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, shownForMs);
    };
    example.after(button);
  }
}

/** Browsers give no clipboard to a page without https. There the text is selected, and the reader copies it by hand. */
async function copy(example: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(example.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(example);
    return false;
  }
}
