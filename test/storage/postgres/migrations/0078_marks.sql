-- beside: 64
--
-- Each object gets a mark that depends on its name, also where a server writes it that does not know marks.
ALTER TABLE objects ADD COLUMN mark bigint;

CREATE FUNCTION set_mark() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.mark := hashtext(NEW.name);
    RETURN NEW;
END $$;
CREATE TRIGGER set_mark BEFORE INSERT OR UPDATE ON objects FOR EACH ROW EXECUTE FUNCTION set_mark();
