import { ArrowUp, Square } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { Button } from "../button.tsx";
import { TextArea } from "../field.tsx";

interface ChatComposerProps {
  /** An answer is under way. */
  isOpen: boolean;
  /** The message is on its way. */
  isSending?: boolean;
  disabled?: boolean;
  placeholder: string;
  /** Text to begin with. */
  draft: string;
  /** False: not sent, so the text stays. */
  onAsk(question: string): boolean;
  onStop(): void;
}

/** Enter sends; Shift+Enter begins a new line. */
export function ChatComposer(props: ChatComposerProps) {
  const { isOpen, isSending = false, disabled = false, placeholder, draft, onAsk, onStop } = props;
  const [text, setText] = useState(draft);
  const maySend = !isOpen && !isSending && !disabled && text.trim() !== "";
  const send = () => {
    if (!maySend) return;
    if (onAsk(text)) setText("");
  };
  const sendByKey = (event: KeyboardEvent) => {
    // Enter also ends the composition of a character in Chinese, Japanese or Korean.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <TextArea
        aria-label="Message"
        placeholder={placeholder}
        rows={1}
        disabled={disabled}
        className="field-sizing-content max-h-60 min-h-9 flex-1 resize-none"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={sendByKey}
      />
      {isOpen ? (
        <Button className="h-9" icon={<Square size={12} />} onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Button kind="primary" type="submit" className="h-9" icon={<ArrowUp size={14} />} disabled={!maySend}>
          Send
        </Button>
      )}
    </form>
  );
}
