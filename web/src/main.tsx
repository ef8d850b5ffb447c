// The page begins here.
import "./policy";
import "./styles/index.css";
import { Component, lazy, Suspense, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { ChatPage } from "./chat/ChatPage";
import { Confirm } from "./shell/Confirm";
import { useLocation } from "./shell/location";
import { keptTheme, showTheme } from "./shell/theme";

const InspectPage = lazy(() => import("./inspect/InspectPage"));
const AnalyticsPage = lazy(() => import("./analytics/AnalyticsPage"));

const TITLES = { chat: "Rejoinder", inspect: "Inspector · Rejoinder", analytics: "Analytics · Rejoinder" };

/** A fault of ours costs the page, not the conversation: that is on the server. */
class Guard extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <div className="centre" role="alert">
        <h2>The page has lost its thread</h2>
        <p>Nothing that was said is lost. Load it again to go on.</p>
        <button type="button" className="button primary" onClick={() => window.location.reload()}>
          Load again
        </button>
      </div>
    );
  }
}

function App() {
  const { page, query } = useLocation();
  document.title = TITLES[page];
  return (
    <>
      {page === "chat" ? (
        <ChatPage query={query} />
      ) : (
        <Suspense fallback={null}>{page === "inspect" ? <InspectPage query={query} /> : <AnalyticsPage query={query} />}</Suspense>
      )}
      <Confirm />
    </>
  );
}

showTheme(keptTheme());
createRoot(document.getElementById("root")!).render(
  <Guard>
    <App />
  </Guard>,
);
