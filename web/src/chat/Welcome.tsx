// What one sees before the first message.
import { Icon } from "../shell/Icon";
import { Mark } from "../shell/Mark";

const IDEAS = [
  "Explain what a reverse proxy does, with a small example.",
  "Write a haiku about a lost connection that came back.",
  "Compare a queue and a log in a table.",
];

export function Welcome({ onPick }: { onPick: (text: string) => void }) {
  return (
    <div className="welcome">
      <Mark size={44} />
      <h2>What shall we talk about?</h2>
      <p>Answers belong to the server: reload, close the tab or lose the network, and the answer goes on.</p>
      <ul>
        {IDEAS.map((idea) => (
          <li key={idea}>
            <button type="button" className="idea" onClick={() => onPick(idea)}>
              {idea}
              <Icon name="right" size={16} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
